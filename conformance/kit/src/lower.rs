//! The same reversal in another language: a chain of steps as an ONNX model, an OpenVINO IR,
//! StableHLO text or DirectML descriptors.
//!
//! The result does exactly what the chain does, refusals included, by the rules of the other
//! language; what is not exact there is refused. Steps keep the shape of the tensor.

mod directml;
mod onnx;
mod openvino;
mod stablehlo;

use retrograde_truth::tensor::Tensor;
use retrograde_truth::types::Type;
use std::fmt;

/// A model that reverses one input, step by step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// The tensor that is reversed.
    pub input: Operand,
    /// The inputs that are lengths.
    pub lengths: Vec<Operand>,
    /// What happens to the tensor.
    pub steps: Vec<Step>,
    /// The name of the result.
    pub output: String,
}

/// An input of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand {
    /// Its name.
    pub name: String,
    /// Its type.
    pub dtype: &'static Type,
    /// The sizes of its axes.
    pub dims: Vec<Dim>,
}

/// The size of an axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dim {
    /// It is this.
    Fixed(usize),
    /// It is known when the model runs; it may have a name.
    Open(Option<String>),
}

/// A step of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// These axes, each once.
    Axes(Vec<usize>),
    /// The first steps of the time axis, as many as the entry of the batch axis has. A length
    /// outside the axis must be refused.
    Sequence {
        /// The axis that is reversed.
        time: usize,
        /// The axis with a length for each entry.
        batch: usize,
        /// The lengths.
        lengths: Lengths,
    },
}

/// The lengths of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lengths {
    /// These.
    Constant(Tensor),
    /// The entry of [`Chain::lengths`] with this number.
    Input(usize),
}

/// A language to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// A `.onnx` file: Slice, ReverseSequence.
    Onnx,
    /// An `.xml` and a `.bin` file: Reverse-1, ReverseSequence-1.
    OpenVino,
    /// Text: `stablehlo.reverse`, and `gather` for lengths.
    StableHlo,
    /// JSON: descriptors of ReverseSubsequences.
    DirectMl,
}

/// How to write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The opset of an ONNX model.
    pub opset: u64,
    /// The caller promises that lengths are never negative and never beyond the axis. Some languages
    /// cannot refuse such lengths.
    pub trust_lengths: bool,
}

/// Why a chain cannot be written exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// The language does not have it.
    Inexact(String),
    /// It is exact if the lengths can be trusted, see [`Options::trust_lengths`].
    Lengths(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Refused::Inexact(reason) | Refused::Lengths(reason)) = self;
        f.write_str(reason)
    }
}

/// Writes the chain: the extension and the content of each file.
pub fn lower(
    chain: &Chain,
    language: Language,
    options: Options,
) -> Result<Vec<(&'static str, Vec<u8>)>, Refused> {
    chain.check()?;
    match language {
        Language::Onnx => onnx::write(chain, options.opset).map(|model| vec![("onnx", model)]),
        Language::OpenVino => {
            let (xml, bin) = openvino::write(chain)?;
            Ok(vec![("xml", xml.into_bytes()), ("bin", bin)])
        }
        Language::StableHlo => {
            let text = stablehlo::write(chain, options.trust_lengths)?;
            Ok(vec![("mlir", text.into_bytes())])
        }
        Language::DirectMl => {
            let text = directml::write(chain, options.trust_lengths)?;
            Ok(vec![("json", text.into_bytes())])
        }
    }
}

fn inexact<T>(reason: impl Into<String>) -> Result<T, Refused> {
    Err(Refused::Inexact(reason.into()))
}

impl Chain {
    /// What every writer relies on: axes exist, lengths are integers, and constant ones fit.
    fn check(&self) -> Result<(), Refused> {
        let rank = self.input.dims.len();
        for (at, step) in self.steps.iter().enumerate() {
            let axes = match step {
                Step::Axes(axes) => axes.clone(),
                Step::Sequence { time, batch, .. } => vec![*time, *batch],
            };
            if let Some(axis) = axes.iter().find(|&&axis| axis >= rank) {
                return inexact(format!("step {at}: axis {axis} is outside [0, {rank})"));
            }
            if (1..axes.len()).any(|at| axes[..at].contains(&axes[at])) {
                return inexact(format!("step {at}: {axes:?} names an axis twice"));
            }
            if let Step::Sequence { time, batch, lengths } = step {
                self.check_lengths(at, *time, *batch, lengths)?;
            }
        }
        Ok(())
    }

    fn check_lengths(
        &self,
        at: usize,
        time: usize,
        batch: usize,
        lengths: &Lengths,
    ) -> Result<(), Refused> {
        let (dtype, rank) = match lengths {
            Lengths::Constant(lengths) => (lengths.dtype, lengths.shape.len()),
            Lengths::Input(number) => match self.lengths.get(*number) {
                Some(operand) => (operand.dtype, operand.dims.len()),
                None => return inexact(format!("step {at}: there are no lengths {number}")),
            },
        };
        if !dtype.is_integer() || rank != 1 {
            let kind = dtype.name;
            return inexact(format!(
                "step {at}: lengths have type {kind} and rank {rank}, expected integers of rank 1"
            ));
        }
        let Lengths::Constant(lengths) = lengths else { return Ok(()) };
        if let Dim::Fixed(size) = self.input.dims[batch]
            && size != lengths.len()
        {
            let count = lengths.len();
            return inexact(format!("step {at}: there are {count} lengths, expected {size}"));
        }
        let size = match self.input.dims[time] {
            Dim::Fixed(size) => size as i128,
            Dim::Open(_) => i64::MAX.into(),
        };
        let bad = lengths
            .to_integers()
            .into_iter()
            .enumerate()
            .find(|(_, length)| !(0..=size).contains(length));
        match bad {
            Some((position, length)) => {
                inexact(format!("step {at}: lengths[{position}] is {length}, outside [0, {size}]"))
            }
            None => Ok(()),
        }
    }

    /// The sizes, if all are known.
    fn sizes(&self) -> Option<Vec<usize>> {
        let size = |dim: &Dim| match dim {
            Dim::Fixed(size) => Some(*size),
            Dim::Open(_) => None,
        };
        self.input.dims.iter().map(size).collect()
    }

    /// Refuses lengths that are only known when the model runs, for a language that cannot refuse
    /// those outside the axis.
    fn check_known(&self, lengths: &Lengths, trust: bool, cannot: &str) -> Result<(), Refused> {
        match lengths {
            Lengths::Input(number) if !trust => {
                let name = &self.lengths[*number].name;
                Err(Refused::Lengths(format!(
                    "the lengths are the input {name:?}, and {cannot} lengths outside the axis, \
                     which must be refused"
                )))
            }
            _ => Ok(()),
        }
    }

    /// The steps that move something.
    fn moving(&self) -> Vec<&Step> {
        self.steps
            .iter()
            .filter(|step| !matches!(step, Step::Axes(axes) if axes.is_empty()))
            .collect()
    }
}

/// Names that no input or output has.
struct Names {
    taken: Vec<String>,
}

impl Names {
    fn of(chain: &Chain) -> Names {
        let mut taken = vec![chain.input.name.clone(), chain.output.clone()];
        taken.extend(chain.lengths.iter().map(|operand| operand.name.clone()));
        Names { taken }
    }

    /// A name that begins with this.
    fn fresh(&mut self, stem: &str) -> String {
        let free = |name: &String| !self.taken.contains(name);
        let mut names = (0..).map(|number| format!("{stem}_{number}"));
        let name = names.find(free).unwrap_or_default();
        self.taken.push(name.clone());
        name
    }
}
