//! Provider options, which the runtime keeps as session options with a prefix.

use crate::ffi::OrtSessionOptions;
use crate::runtime::{Failure, Runtime, text};
use retrograde::LengthPolicy;
use std::path::PathBuf;
use std::ptr;

/// The provider's name in lower case, as the runtime writes it.
const PREFIX: &str = "ep.retrogradeexecutionprovider.";

/// What a user can choose, for a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    /// `policy`: what a length beyond the time axis is.
    pub(crate) policy: LengthPolicy,
    /// `min_bytes`: the smallest input to claim a node for, if its shape is known. Without it, the
    /// size from which on the provider is faster.
    pub(crate) min_bytes: Option<usize>,
    /// `strings`: whether to claim nodes whose elements are strings.
    pub(crate) strings: bool,
    /// `report`: a file to write what was claimed to, as lines of JSON.
    pub(crate) report: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Options { policy: LengthPolicy::Strict, min_bytes: None, strings: false, report: None }
    }
}

impl Options {
    /// # Safety
    /// `options` are the runtime's.
    pub(crate) unsafe fn of_session(
        runtime: &Runtime,
        options: *const OrtSessionOptions,
    ) -> Result<Self, Failure> {
        let mut pairs = ptr::null_mut();
        // SAFETY: as required.
        runtime.check(unsafe { runtime.api.config_entries(options, &mut pairs) })?;
        let (mut keys, mut values, mut count) = (ptr::null(), ptr::null(), 0);
        // SAFETY: the pairs that the runtime has just made.
        unsafe { runtime.api.key_value_pairs(pairs, &mut keys, &mut values, &mut count) };
        let pair = |at: usize| {
            // SAFETY: there are `count` texts of each, which live as long as the pairs.
            unsafe { (text(*keys.add(at)), text(*values.add(at))) }
        };
        let read = Self::read((0..count).map(pair));
        // SAFETY: released once; `read` copies what it keeps.
        unsafe { runtime.api.release_key_value_pairs(pairs) };
        read.map_err(Failure::argument)
    }

    /// From all entries of a session's configuration.
    fn read<'a>(entries: impl Iterator<Item = (&'a str, &'a str)>) -> Result<Self, String> {
        let mut options = Options::default();
        for (key, value) in entries {
            let Some(name) = key.strip_prefix(PREFIX) else { continue };
            match name {
                "policy" => {
                    options.policy = match value {
                        "strict" => LengthPolicy::Strict,
                        "clamp" => LengthPolicy::Clamp,
                        _ => return Err(wrong(name, value, "\"strict\" or \"clamp\"")),
                    }
                }
                "min_bytes" => {
                    let number = value.parse().map_err(|_| wrong(name, value, "a number of bytes"));
                    options.min_bytes = Some(number?);
                }
                "strings" => {
                    options.strings = match value {
                        "0" => false,
                        "1" => true,
                        _ => return Err(wrong(name, value, "\"0\" or \"1\"")),
                    }
                }
                "report" => options.report = Some(PathBuf::from(value)),
                "lengths" => {
                    return Err(r#"provider option "lengths" is called "policy""#.to_owned());
                }
                _ => {
                    let known = "policy, min_bytes, strings, report";
                    return Err(format!("provider option {name:?} is unknown, expected {known}"));
                }
            }
        }
        Ok(options)
    }
}

fn wrong(name: &str, value: &str, expected: &str) -> String {
    format!("provider option {name:?} is {value:?}, expected {expected}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(entries: &[(&str, &str)]) -> Result<Options, String> {
        Options::read(entries.iter().copied())
    }

    #[test]
    fn options_of_others_are_passed_over() {
        let entries = [
            ("session.intra_op.allow_spinning", "0"),
            ("ep.retrogradeexecutionprovider.policy", "clamp"),
            ("ep.retrogradeexecutionprovider.min_bytes", "4096"),
            ("ep.cpuexecutionprovider.policy", "?"),
        ];
        let wanted =
            Options { policy: LengthPolicy::Clamp, min_bytes: Some(4096), ..Options::default() };
        assert_eq!(read(&entries), Ok(wanted));
        assert_eq!(read(&[]), Ok(Options::default()));
    }

    #[test]
    fn wrong_options_are_named() {
        let cases = [
            (
                ("ep.retrogradeexecutionprovider.policy", "loose"),
                r#"provider option "policy" is "loose", expected "strict" or "clamp""#,
            ),
            (
                ("ep.retrogradeexecutionprovider.min_bytes", "-1"),
                r#"provider option "min_bytes" is "-1", expected a number of bytes"#,
            ),
            (
                ("ep.retrogradeexecutionprovider.length", "clamp"),
                r#"provider option "length" is unknown, expected policy, min_bytes, strings, report"#,
            ),
            (
                ("ep.retrogradeexecutionprovider.lengths", "clamp"),
                r#"provider option "lengths" is called "policy""#,
            ),
        ];
        for (entry, wanted) in cases {
            assert_eq!(read(&[entry]), Err(wanted.to_owned()));
        }
    }
}
