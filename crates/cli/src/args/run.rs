//! Arguments of `run`.

use clap::Args;
use retrograde_io::{Format, Location};
use retrograde_program::operators::ThreadsArgument;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::str::FromStr;

#[derive(Debug, Args)]
#[command(
    after_help = "Models may consist of reversals (ReverseSequence, Reverse, Slice) and the operators \
    that exporters write around them; info lists what a model has. \
    With neither --output nor --output-dir, the outputs' types and shapes are printed."
)]
pub(crate) struct RunArguments {
    /// The model: ONNX (.onnx, opsets 10 to 28) or OpenVINO IR (.xml with its .bin, versions 10 and
    /// 11)
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// A file for an input, in any format (FILE:NAME for one of several tensors). Repeat it for
    /// each input. The name may be omitted if there is only one
    #[arg(short, long, value_name = "NAME=FILE")]
    pub(crate) input: Vec<NamedFile>,
    /// A file for an output, whose extension implies its format. Repeat it for each output. The
    /// name may be omitted if there is only one
    #[arg(short, long, value_name = "NAME=FILE")]
    pub(crate) output: Vec<NamedFile>,
    /// A folder for all outputs, each written as NAME.npy (.pb or .raw if .npy does not support
    /// it), or in the format of --to
    #[arg(short = 'd', long, value_name = "DIR")]
    pub(crate) output_dir: Option<PathBuf>,
    /// The format of inputs whose names do not imply one, such as - for stdin
    #[arg(long, value_name = "FORMAT", requires = "input")]
    pub(crate) from: Option<Format>,
    /// The format of outputs whose names do not imply one, and of all in a folder (- is npy)
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: Option<Format>,
    /// Also replace read-only outputs
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) threads: ThreadsArgument,
}

/// A tensor of the model and its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedFile {
    pub(crate) name: Option<String>,
    pub(crate) location: Location,
}

impl FromStr for NamedFile {
    type Err = String;

    /// The name ends at the last `=`, since file names rarely contain one.
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, path) = match text.rsplit_once('=') {
            Some((name, path)) => (Some(name.to_owned()), path),
            None => (None, text),
        };
        if path.is_empty() || name.as_deref() == Some("") {
            return Err("expected NAME=FILE".to_owned());
        }
        Ok(NamedFile { name, location: Location::from(OsStr::new(path)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_before_the_last_equals_sign() {
        let parsed = |text: &str| text.parse::<NamedFile>().map(|file| (file.name, file.location));
        let at = |path: &str| Location::file(path);
        assert_eq!(parsed("x=a.npy"), Ok((Some("x".to_owned()), at("a.npy"))));
        assert_eq!(parsed("a=b=c.npy"), Ok((Some("a=b".to_owned()), at("c.npy"))));
        assert_eq!(parsed("a.npy"), Ok((None, at("a.npy"))));
        let named = Location { path: "a.npz".into(), name: Some("w".to_owned()) };
        assert_eq!(parsed("x=a.npz:w"), Ok((Some("x".to_owned()), named)));
        assert!(parsed("x=").is_err() && parsed("=a").is_err() && parsed("").is_err());
    }
}
