//! Backends under test. A backend moves bytes; the runner checks them.

use crate::case::{Case, CaseLengths, Operation, Rule};
use crate::placement::{Placement, Width};
use retrograde::cpu::{Isa, Tuning};
use retrograde::{
    Align, DType, Error, ExecuteError, Layout, LengthsOperator, Orient, Orientation, Reversal,
    Reverse, ReverseSegments, ReverseSequence, ReverseSubsequences, Table, Tail, TensorMut,
    TensorRef, WithLengths,
};
use std::ops::Range;

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The output has been written.
    Done,
    /// A length was out of range; its index in the lengths tensor.
    BadLength(Vec<usize>),
    /// Any other error.
    Refused(String),
    /// The backend does not support this kind of case, for this reason. It is counted as skipped.
    Unsupported(String),
}

impl Outcome {
    /// Of a call whose plan could not run. A plan counts lengths in row-major order.
    pub fn of(case: &Case, error: ExecuteError) -> Self {
        let shape = case.lengths.as_ref().map(|lengths| &lengths.placement.shape);
        match (error, shape) {
            (ExecuteError::LengthOutOfRange { ordinal, .. }, Some(shape)) => {
                let mut rest = ordinal;
                let mut index: Vec<usize> = shape
                    .iter()
                    .rev()
                    .map(|&size| {
                        let at = rest % size;
                        rest /= size;
                        at
                    })
                    .collect();
                index.reverse();
                Outcome::BadLength(index)
            }
            (ExecuteError::OffsetOutOfRange { ordinal, .. }, _) => {
                Outcome::BadLength(vec![ordinal])
            }
            (error, _) => Outcome::Refused(error.to_string()),
        }
    }
}

/// Something that runs calls on host memory.
pub trait Backend: Sync {
    /// Its name in the report.
    fn name(&self) -> &str;

    /// Why it cannot run here, if it cannot.
    fn unavailable(&self) -> Option<String> {
        None
    }

    /// Called before a family of cases.
    fn prepare(&self) {}

    /// Whether it should run every small call, or only the longer ones.
    fn is_thorough(&self) -> bool {
        true
    }

    /// Parts of it that no call has reached so far; none may remain when everything has run.
    fn unused(&self) -> Vec<String> {
        Vec::new()
    }

    /// Runs a call; without an input, in place.
    fn run(&self, case: &Case, input: Option<&[u8]>, output: &mut [u8]) -> Outcome;

    /// The preferred number of calls per batch; if it is more than one,
    /// [`run_batch`](Self::run_batch) runs them.
    fn batch(&self) -> usize {
        1
    }

    /// Runs many calls, whose inputs and outputs are all in one arena.
    fn run_batch(&self, calls: &[Call<'_>], arena: &mut [u8]) -> Vec<Outcome> {
        let run = |call: &Call<'_>| {
            let input = call.input.clone().map(|input| arena[input].to_vec());
            self.run(call.case, input.as_deref(), &mut arena[call.output.clone()])
        };
        calls.iter().map(run).collect()
    }
}

/// Runs a call as a batch of one, for backends that run batches.
pub fn run_as_batch(
    backend: &dyn Backend,
    case: &Case,
    input: Option<&[u8]>,
    output: &mut [u8],
) -> Outcome {
    let mut arena = input.map_or_else(Vec::new, <[u8]>::to_vec);
    arena.resize(arena.len().next_multiple_of(64), 0);
    let apart = arena.len();
    arena.extend_from_slice(output);
    let call = Call { case, input: input.map(|input| 0..input.len()), output: apart..arena.len() };
    let outcome = backend.run_batch(&[call], &mut arena).pop();
    output.copy_from_slice(&arena[apart..]);
    outcome.unwrap_or(Outcome::Refused("no outcome".to_owned()))
}

/// One call of a batch.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// The case to run.
    pub case: &'a Case,
    /// The location of its input; `None` if it runs in place.
    pub input: Option<Range<usize>>,
    /// The location of its output.
    pub output: Range<usize>,
}

/// The engine's own CPU backend: one instruction set, one kind of threading and of stores.
pub struct Cpu {
    name: String,
    isa: Isa,
    tuning: Tuning,
    thorough: bool,
}

impl Cpu {
    /// As users get it.
    pub fn best() -> Self {
        Self::at(Isa::current())
    }

    /// Every instruction set of this processor, each also with non-temporal stores; and the best
    /// one also with every call split among threads, whatever its size.
    pub fn all() -> Vec<Cpu> {
        let eager = Tuning { stream_from: Some(0), ..Tuning::default() };
        let shared = Tuning { share_from: 0, wake_from: 0, least_part: 1, ..eager };
        let mut all = Vec::new();
        for isa in Isa::available() {
            let plain = Cpu::at(isa);
            let named = |what: &str| format!("{}, {what}", plain.name);
            let thorough = isa == Isa::current();
            let streamed = Cpu { name: named("streamed"), tuning: eager, isa, thorough };
            let shared = Cpu { name: named("shared"), tuning: shared, isa, thorough: false };
            all.extend([plain, streamed, shared]);
        }
        all
    }

    fn at(isa: Isa) -> Self {
        let name = format!("cpu {}", isa.name());
        Cpu { name, isa, tuning: Tuning::default(), thorough: true }
    }
}

impl Backend for Cpu {
    fn name(&self) -> &str {
        &self.name
    }

    fn prepare(&self) {
        self.isa.force();
        self.tuning.apply();
    }

    fn is_thorough(&self) -> bool {
        self.thorough
    }

    fn run(&self, case: &Case, input: Option<&[u8]>, output: &mut [u8]) -> Outcome {
        with_operator(case, |operator| {
            let mut dst = TensorMut::new(layout(case.target())?, output)?;
            match input {
                Some(input) => {
                    operator.apply_view(&TensorRef::new(layout(&case.input)?, input)?, &mut dst)
                }
                None => operator.in_place_view(&mut dst),
            }
        })
    }
}

/// Calls the operator of a case, with its mask and its table.
pub fn with_operator(
    case: &Case,
    call: impl FnOnce(&dyn Reversal<'_>) -> Result<(), Error>,
) -> Outcome {
    let (operation, table) = match &case.operation {
        Operation::LookUp { of, table } => (&**of, Some(&**table)),
        operation => (operation, None),
    };
    let (operation, batch, mask) = match operation {
        Operation::Where { of, batch, mask } => (&**of, *batch as i64, Some(&**mask)),
        operation => (operation, 0, None),
    };
    let call = LookUp { table, call };
    let result = (|| match (operation, &case.lengths) {
        (Operation::Reverse { flips }, _) => {
            let operator = Reverse::mask(flips.iter().copied());
            match mask {
                Some(mask) => call.of(&operator.batch(batch).where_(mask)),
                None => call.of(&operator),
            }
        }
        (&Operation::Orient { exif, rows, columns }, _) => call.of(&orient(exif, rows, columns)?),
        (Operation::Sequence { time, batch, rule }, Some(lengths)) => {
            call.of(&masked(sequence(*time, *batch, *rule).lengths(tensor(lengths)?), mask))
        }
        (Operation::Subsequences { axis, rule }, Some(lengths)) => {
            call.of(&masked(subsequences(*axis, *rule).lengths(tensor(lengths)?), mask))
        }
        (Operation::Segments { axis }, Some(offsets)) => {
            let operator = ReverseSegments::along(*axis as i64);
            call.of(&masked(operator.offsets(tensor(offsets)?), mask))
        }
        (Operation::Where { .. } | Operation::LookUp { .. }, _) => {
            unreachable!("a table of a mask of another operation, and nothing else")
        }
        (_, None) => unreachable!("the case generator gives lengths to these"),
    })();
    match result {
        Ok(()) => Outcome::Done,
        Err(Error::LengthOutOfRange { index, .. }) => Outcome::BadLength(index),
        Err(Error::OffsetOutOfRange { index, .. }) => Outcome::BadLength(vec![index]),
        Err(Error::WhereAxes) => {
            Outcome::Unsupported("axes with a mask that are no neighbours".to_owned())
        }
        Err(error) => Outcome::Refused(error.to_string()),
    }
}

/// What a call does with its operator, which may look elements up.
struct LookUp<'t, F> {
    table: Option<&'t [u8]>,
    call: F,
}

impl<F: FnOnce(&dyn Reversal<'_>) -> Result<(), Error>> LookUp<'_, F> {
    fn of<'a>(self, reversal: &impl Reversal<'a>) -> Result<(), Error> {
        match self.table {
            Some(table) => (self.call)(&reversal.table(&Table::new(table)?)),
            None => (self.call)(reversal),
        }
    }
}

fn masked<'a, O: LengthsOperator>(
    reversal: WithLengths<'a, O>,
    mask: Option<&'a [bool]>,
) -> WithLengths<'a, O> {
    match mask {
        Some(mask) => reversal.where_(mask),
        None => reversal,
    }
}

/// The operator of a case with an orientation.
fn orient(exif: u8, rows: usize, columns: usize) -> Result<Orient, Error> {
    let orientation = Orientation::from_exif(exif.into())?;
    Ok(Orient::new(orientation).axes(rows as i64, columns as i64))
}

/// The operator of a sequence case.
pub(crate) fn sequence(time: usize, batch: usize, rule: Rule) -> ReverseSequence {
    let (time, batch) = (time as i64, batch as i64);
    let operator = ReverseSequence::new().time_axis(time).batch_axis(batch);
    operator.policy(rule.policy).align(align(rule)).tail(tail(rule))
}

/// The operator of a case of subsequences.
pub(crate) fn subsequences(axis: usize, rule: Rule) -> ReverseSubsequences {
    let operator = ReverseSubsequences::along(axis as i64).policy(rule.policy);
    operator.align(align(rule)).tail(tail(rule))
}

fn align(rule: Rule) -> Align {
    if rule.end { Align::End } else { Align::Start }
}

fn tail(rule: Rule) -> Tail {
    if rule.zero { Tail::Zero } else { Tail::Keep }
}

/// Whether an operation has a mask, under a table or not.
pub fn has_mask(operation: &Operation) -> bool {
    match operation {
        Operation::LookUp { of, .. } => has_mask(of),
        operation => matches!(operation, Operation::Where { .. }),
    }
}

/// The lengths of a case.
fn tensor(lengths: &CaseLengths) -> Result<TensorRef<'_>, Error> {
    let Placement { shape, strides, offset, .. } = &lengths.placement;
    let layout = Layout::byte_strided(lengths.dtype, shape, strides, *offset)?;
    Ok(TensorRef::new(layout, &lengths.buffer[..])?)
}

/// The layout of a tensor.
pub fn layout(placement: &Placement) -> Result<Layout, Error> {
    let Placement { width, shape, strides, offset, .. } = placement;
    let dtype = element_type(*width);
    Ok(match width {
        _ if placement.whole => Layout::dense(dtype, shape)?,
        Width::Bytes(_) => Layout::byte_strided(dtype, shape, strides, *offset)?,
        _ => Layout::strided(dtype, shape, strides, *offset)?,
    })
}

/// The type that the suite has for each width.
pub(crate) fn element_type(width: Width) -> DType {
    match width {
        Width::Bit => DType::U1,
        Width::Crumb => DType::U2,
        Width::Nibble => DType::U4,
        Width::Bytes(1) => DType::U8,
        Width::Bytes(2) => DType::F16,
        Width::Bytes(4) => DType::F32,
        Width::Bytes(8) => DType::I64,
        Width::Bytes(16) => DType::C128,
        Width::Bytes(bytes) => DType::Bytes(bytes),
    }
}
