//! The command line of `retrograde-lower`.

use clap::{Parser, ValueEnum};
use retrograde_kit::lower;
use std::path::PathBuf;

/// Writes a model of reversals in another language: ONNX, OpenVINO, StableHLO, DirectML.
#[derive(Debug, Parser)]
#[command(
    name = "retrograde-lower",
    bin_name = "retrograde lower",
    version,
    after_help = "A model is lowered if it consists of reversals (ReverseSequence, Reverse, Slice with steps of \
    -1 over whole axes) of one input. The result does exactly the same, by the rules of the other language; what \
    is not exact there is refused, with the reason."
)]
pub(crate) struct Arguments {
    /// Print errors only: no summary of what was written, no progress bar
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// The model: ONNX (.onnx) or OpenVINO IR (.xml with its .bin)
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// The language to write
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    pub(crate) to: LowerTo,
    /// The file to write; the weights of an IR are next to it (.bin). StableHLO and DirectML go to
    /// stdout without it
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The opset of an ONNX model
    #[arg(long, value_name = "N", default_value_t = 22, value_parser = clap::value_parser!(u64).range(11..=28))]
    pub(crate) opset: u64,
    /// Lengths that are inputs are never negative and never beyond the axis. StableHLO and DirectML
    /// cannot refuse such lengths
    #[arg(long)]
    pub(crate) trust_lengths: bool,
    /// Also replace a read-only file
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LowerTo {
    /// ReverseSequence and Slice
    Onnx,
    /// An IR of Reverse-1 and ReverseSequence-1
    Openvino,
    /// Text: stablehlo.reverse, and gather for lengths
    Stablehlo,
    /// Descriptors of ReverseSubsequences, in JSON
    Directml,
}

impl From<LowerTo> for lower::Language {
    fn from(language: LowerTo) -> Self {
        match language {
            LowerTo::Onnx => lower::Language::Onnx,
            LowerTo::Openvino => lower::Language::OpenVino,
            LowerTo::Stablehlo => lower::Language::StableHlo,
            LowerTo::Directml => lower::Language::DirectMl,
        }
    }
}
