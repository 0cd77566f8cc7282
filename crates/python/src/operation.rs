//! An operator with the arguments of a call, ready to run or to be explained.

use crate::axes;
use crate::lengths::Lengths;
use crate::mask::{self, Steps};
use crate::ndarray;
use crate::operand::Operand;
use crate::view::{Place, View};
use numpy::{IxDyn, PyArray, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyTuple;
use retrograde::{
    Align, Layout, LengthPolicy, Operator, Orientation, Prepared, Reversal, Reverse,
    ReverseSegments, ReverseSequence, ReverseSubsequences, Table, Tail, TensorRef,
};

/// A generic callback: the operators have different types, and one call serves them all.
pub(crate) trait Visitor {
    type Output;
    fn visit<'r>(self, operator: &(impl Reversal<'r> + Sync)) -> PyResult<Self::Output>;
}

/// Prepares a call, with a table if there is one.
pub(crate) fn prepare<'r>(
    operator: &impl Reversal<'r>,
    table: Option<&Table>,
    from: &Layout,
    to: &Layout,
) -> Result<Prepared<'r>, retrograde::Error> {
    match table {
        Some(table) => operator.table(table).prepare(from, to),
        None => operator.prepare(from, to),
    }
}

/// One of the operators with everything that it needs except the tensor.
pub(crate) enum Operation<'a> {
    Reverse(&'a Reverse),
    Sequence(&'a ReverseSequence, &'a Lengths),
    /// With the axis that the lengths lack, if they do.
    Subsequences(&'a ReverseSubsequences, &'a Lengths, Option<usize>),
    Segments(&'a ReverseSegments, &'a Lengths),
}

/// A requested operator, without lengths or offsets.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Asked {
    /// With the two axes of the tensor that are swapped before.
    Reverse(Reverse, Option<(usize, usize)>),
    /// With its axes of time and batch.
    Sequence(ReverseSequence, Padding, [i64; 2]),
    /// With its axis.
    Subsequences(ReverseSubsequences, Padding, i64),
    Segments(ReverseSegments),
}

/// Offsets that say in their lowest bit which segments are reversed, as
/// [`ReverseSegments::marked`] has them.
#[pyclass(frozen, module = "retrograde._engine")]
pub(crate) struct Marked {
    #[pyo3(get)]
    offsets: Py<PyAny>,
}

#[pymethods]
impl Marked {
    #[new]
    fn new(offsets: Py<PyAny>) -> Self {
        Marked { offsets }
    }
}

/// Where the padding is, and what becomes of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Padding {
    align: Align,
    tail: Tail,
}

impl Asked {
    pub(crate) fn reverse(
        axes: Option<&Bound<'_, PyAny>>,
        mask: Option<&Bound<'_, PyAny>>,
        duplicates: &str,
    ) -> PyResult<Self> {
        Ok(Asked::Reverse(axes::reverse(axes, mask, duplicates)?, None))
    }

    /// An orientation of these axes, which the tensor has.
    pub(crate) fn oriented(orientation: Orientation, [rows, columns]: [usize; 2]) -> Self {
        let flips = [rows, columns].into_iter().zip(orientation.flips());
        let axes = flips.filter_map(|(axis, flipped)| flipped.then_some(axis as i64));
        Asked::Reverse(Reverse::axes(axes), orientation.transposes().then_some((rows, columns)))
    }

    pub(crate) fn sequence(
        time_axis: &Bound<'_, PyAny>,
        batch_axis: &Bound<'_, PyAny>,
        policy: &str,
        align: &str,
        tail: &str,
    ) -> PyResult<Self> {
        let name = "ReverseSequence";
        let time = axes::single(name, "time_axis", time_axis)?;
        let batch = axes::single(name, "batch_axis", batch_axis)?;
        let (policy, align, tail) =
            (policy_of(name, policy)?, align_of(name, align)?, tail_of(name, tail)?);
        let operator = ReverseSequence::new().time_axis(time).batch_axis(batch).policy(policy);
        let operator = operator.align(align).tail(tail);
        Ok(Asked::Sequence(operator, Padding { align, tail }, [time, batch]))
    }

    pub(crate) fn subsequences(
        axis: &Bound<'_, PyAny>,
        policy: &str,
        align: &str,
        tail: &str,
    ) -> PyResult<Self> {
        let name = "ReverseSubsequences";
        let axis = axes::single(name, "axis", axis)?;
        let (policy, align, tail) =
            (policy_of(name, policy)?, align_of(name, align)?, tail_of(name, tail)?);
        let operator = ReverseSubsequences::along(axis).policy(policy).align(align).tail(tail);
        Ok(Asked::Subsequences(operator, Padding { align, tail }, axis))
    }

    /// With the offsets themselves, which may be [`Marked`].
    pub(crate) fn segments<'py>(
        axis: &Bound<'py, PyAny>,
        offsets: &Bound<'py, PyAny>,
    ) -> PyResult<(Self, Bound<'py, PyAny>)> {
        let operator = ReverseSegments::along(axes::single("ReverseSegments", "axis", axis)?);
        Ok(match offsets.cast_exact::<Marked>() {
            Ok(marked) => {
                (Asked::Segments(operator.marked()), marked.get().offsets.bind(axis.py()).clone())
            }
            Err(_) => (Asked::Segments(operator), offsets.clone()),
        })
    }

    /// Other offsets for a call that was prepared with a mask, or without: what is in [`Marked`] ones.
    pub(crate) fn unmarked<'py>(&self, given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let Asked::Segments(operator) = self else { return Ok(given.clone()) };
        let marked = *operator == operator.clone().marked();
        match given.cast_exact::<Marked>() {
            Ok(offsets) if marked => Ok(offsets.get().offsets.bind(given.py()).clone()),
            Err(_) if !marked => Ok(given.clone()),
            _ => Err(PyTypeError::new_err(
                "ReverseSegments: a call that was prepared with where takes other offsets with where=, \
                 and one that was prepared without takes them without",
            )),
        }
    }

    /// The operator of this name with its arguments after the tensor, and the lengths or offsets among
    /// them, which come first.
    pub(crate) fn named<'py>(
        operator: &str,
        arguments: &Bound<'py, PyTuple>,
    ) -> PyResult<(Self, Option<Bound<'py, PyAny>>)> {
        type Any<'py> = Bound<'py, PyAny>;
        Ok(match operator {
            "reverse" => {
                let (axes, mask, duplicates): (Option<Any<'_>>, Option<Any<'_>>, Any<'_>) =
                    arguments.extract()?;
                let duplicates = text("duplicates", &duplicates)?;
                (Asked::reverse(axes.as_ref(), mask.as_ref(), &duplicates)?, None)
            }
            "reverse_sequence" => {
                type Six<'py> = (Any<'py>, Any<'py>, Any<'py>, Any<'py>, Any<'py>, Any<'py>);
                let (lengths, time, batch, policy, align, tail): Six<'_> = arguments.extract()?;
                let (policy, align) = (text("policy", &policy)?, text("align", &align)?);
                let tail = text("tail", &tail)?;
                (Asked::sequence(&time, &batch, &policy, &align, &tail)?, Some(lengths))
            }
            "reverse_subsequences" => {
                type Five<'py> = (Any<'py>, Any<'py>, Any<'py>, Any<'py>, Any<'py>);
                let (lengths, axis, policy, align, tail): Five<'_> = arguments.extract()?;
                let (policy, align) = (text("policy", &policy)?, text("align", &align)?);
                let tail = text("tail", &tail)?;
                (Asked::subsequences(&axis, &policy, &align, &tail)?, Some(lengths))
            }
            "reverse_segments" => {
                let (offsets, axis): (Any<'_>, Any<'_>) = arguments.extract()?;
                let (asked, offsets) = Asked::segments(&axis, &offsets)?;
                (asked, Some(offsets))
            }
            _ => return Err(PyValueError::new_err(format!("there is no operator {operator:?}"))),
        })
    }

    /// The tensor as the operator sees it: with the axes swapped that are swapped before.
    pub(crate) fn turned(&self, mut view: View) -> PyResult<View> {
        let &Asked::Reverse(_, Some((first, second))) = self else { return Ok(view) };
        let rank = view.shape.len();
        if first.max(second) >= rank {
            return Err(PyValueError::new_err(format!("axes {first}, {second} of rank {rank}")));
        }
        view.shape.swap(first, second);
        view.strides.swap(first, second);
        Ok(view)
    }

    /// Refuses elements that the operator cannot write: references have no zero bytes.
    pub(crate) fn check_elements(&self, input: &Operand<'_>) -> PyResult<()> {
        let (name, tail) = match self {
            Asked::Sequence(_, padding, _) => ("ReverseSequence", padding.tail),
            Asked::Subsequences(_, padding, _) => ("ReverseSubsequences", padding.tail),
            Asked::Reverse(..) | Asked::Segments(_) => return Ok(()),
        };
        match input {
            Operand::Array(array) if tail == Tail::Zero && ndarray::holds_references(array) => {
                Err(PyTypeError::new_err(format!(
                    "{name}: x has dtype {}, whose elements are references: they have no zero \
                     bytes, expected tail \"keep\"",
                    array.dtype()
                )))
            }
            _ => Ok(()),
        }
    }

    /// Converts the lengths or offsets that were given, if the operator has any. This may run any
    /// Python code, so nothing of the call may be described before.
    pub(crate) fn convert(&self, given: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Lengths>> {
        let (name, argument) = self.counts();
        match (self, given) {
            (Asked::Reverse(..), _) => Ok(None),
            (_, Some(given)) => Lengths::of(name, argument, given, self.steps()).map(Some),
            (_, None) => Err(PyTypeError::new_err(format!("{name}: {argument} are missing"))),
        }
    }

    /// Adds the converted lengths or offsets, and performs the checks of this package that depend on
    /// the tensor's shape. Runs no Python code.
    pub(crate) fn operation<'a>(
        &'a self,
        lengths: Option<&'a Lengths>,
        shape: &[usize],
    ) -> PyResult<Operation<'a>> {
        let lengths = || {
            let (name, argument) = self.counts();
            let missing = || PyTypeError::new_err(format!("{name}: {argument} are missing"));
            lengths.ok_or_else(missing)
        };
        Ok(match self {
            Asked::Reverse(operator, _) => Operation::Reverse(operator),
            Asked::Sequence(operator, ..) => {
                let lengths = lengths()?;
                self.check_mask(lengths, shape)?;
                Operation::Sequence(operator, lengths)
            }
            Asked::Subsequences(operator, _, axis) => {
                let lengths = lengths()?;
                self.check_mask(lengths, shape)?;
                Operation::Subsequences(operator, lengths, lengths.lack(*axis, shape)?)
            }
            Asked::Segments(operator) => Operation::Segments(operator, lengths()?),
        })
    }

    /// How a mask in place of lengths is read.
    fn steps(&self) -> Option<Steps> {
        match self {
            // A row for each sequence, whatever the order of the axes is.
            Asked::Sequence(_, Padding { align, .. }, _) => Some(Steps { axis: 1, align: *align }),
            Asked::Subsequences(_, Padding { align, .. }, axis) => {
                Some(Steps { axis: *axis, align: *align })
            }
            Asked::Reverse(..) | Asked::Segments(_) => None,
        }
    }

    /// Refuses a mask of another shape than the tensor's sequences have. Axes that do not exist are left
    /// to the operator.
    fn check_mask(&self, lengths: &Lengths, shape: &[usize]) -> PyResult<()> {
        let Some(mask) = lengths.mask() else { return Ok(()) };
        let size = |axis: i64| {
            let at = if axis < 0 { axis + shape.len() as i64 } else { axis };
            usize::try_from(at).ok().and_then(|at| shape.get(at)).copied()
        };
        let (name, _) = self.counts();
        match self {
            Asked::Sequence(_, _, [time, batch]) => match (size(*batch), size(*time)) {
                (Some(rows), Some(steps)) if *mask != [rows, steps] => {
                    let axes = format!("batch axis {batch}, time axis {time}");
                    Err(mask::wrong_shape(name, mask, &[rows, steps], &axes))
                }
                _ => Ok(()),
            },
            _ if mask != shape => Err(mask::wrong_shape(name, mask, shape, "the shape of x")),
            _ => Ok(()),
        }
    }

    pub(crate) fn operator(&self) -> Operator {
        match self {
            Asked::Reverse(..) => Operator::Reverse,
            Asked::Sequence(..) => Operator::ReverseSequence,
            Asked::Subsequences(..) => Operator::ReverseSubsequences,
            Asked::Segments(_) => Operator::ReverseSegments,
        }
    }

    /// The name of the operator, and of the argument that counts.
    fn counts(&self) -> (&'static str, &'static str) {
        match self {
            Asked::Reverse(..) => ("Reverse", "lengths"),
            Asked::Sequence(..) => ("ReverseSequence", "lengths"),
            Asked::Subsequences(..) => ("ReverseSubsequences", "lengths"),
            Asked::Segments(_) => ("ReverseSegments", "offsets"),
        }
    }
}

impl Operation<'_> {
    /// The amount of work on such an input in bytes: large calls use several threads. Elements of less
    /// than a byte cost as much as bytes.
    pub(crate) fn work_on(&self, input: &View) -> usize {
        let lengths = self.lengths().map_or(0, Lengths::count);
        let elements = input.shape.iter().fold(1, |count: usize, &size| count.saturating_mul(size));
        input.bytes().max(elements).max(lengths.saturating_mul(size_of::<i64>()))
    }

    /// Its lengths or offsets.
    pub(crate) fn lengths(&self) -> Option<&Lengths> {
        match self {
            Operation::Reverse(_) => None,
            Operation::Sequence(_, lengths)
            | Operation::Subsequences(_, lengths, _)
            | Operation::Segments(_, lengths) => Some(lengths),
        }
    }

    /// The same as the operator sees them.
    pub(crate) fn lengths_tensor(&self) -> PyResult<Option<TensorRef<'_>>> {
        let lacking = match self {
            Operation::Subsequences(_, _, lacking) => *lacking,
            _ => None,
        };
        self.lengths().map(|lengths| lengths.tensor(lacking)).transpose()
    }

    /// For the CPU: lengths must be readable there.
    pub(crate) fn visit<V: Visitor>(&self, visitor: V) -> PyResult<V::Output> {
        match self.lengths() {
            Some(lengths) if lengths.place() != Place::Host => {
                let (argument, place) = (lengths.argument(), lengths.place());
                Err(PyValueError::new_err(format!(
                    "{argument} are on {place}, expected them where the input is, on the CPU"
                )))
            }
            _ => self.visit_anywhere(visitor),
        }
    }

    /// For a visitor that does not read lengths, or that checks where they are.
    pub(crate) fn visit_anywhere<V: Visitor>(&self, visitor: V) -> PyResult<V::Output> {
        match self {
            Operation::Reverse(operator) => visitor.visit(*operator),
            Operation::Sequence(operator, lengths) => {
                visitor.visit(&operator.lengths(lengths.tensor(None)?))
            }
            Operation::Subsequences(operator, lengths, lacking) => {
                visitor.visit(&operator.lengths(lengths.tensor(*lacking)?))
            }
            Operation::Segments(operator, offsets) => {
                visitor.visit(&operator.offsets(offsets.tensor(None)?))
            }
        }
    }
}

/// The lengths in a boolean mask, for a tensor of this shape; the operator's arguments begin with the mask.
#[pyfunction]
#[pyo3(signature = (operator, shape, /, *arguments))]
pub(crate) fn kept_steps<'py>(
    operator: &str,
    shape: Vec<usize>,
    arguments: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyArray<i64, IxDyn>>> {
    let (asked, mask) = Asked::named(operator, arguments)?;
    let counts = asked.convert(mask.as_ref())?;
    asked.operation(counts.as_ref(), &shape)?;
    let Some((counts, left)) = counts.as_ref().and_then(|counts| counts.counted()) else {
        return Err(PyTypeError::new_err(format!("{operator}: lengths is no mask")));
    };
    PyArray::from_vec(arguments.py(), counts).reshape(left)
}

fn text(argument: &str, value: &Bound<'_, PyAny>) -> PyResult<PyBackedStr> {
    let wrong = |error| PyTypeError::new_err(format!("argument '{argument}': {error}"));
    value.extract().map_err(wrong)
}

fn policy_of(operator: &str, policy: &str) -> PyResult<LengthPolicy> {
    match policy {
        "strict" => Ok(LengthPolicy::Strict),
        "clamp" => Ok(LengthPolicy::Clamp),
        other => Err(unknown(operator, "policy", other, "\"strict\" or \"clamp\"")),
    }
}

fn align_of(operator: &str, align: &str) -> PyResult<Align> {
    match align {
        "start" => Ok(Align::Start),
        "end" => Ok(Align::End),
        other => Err(unknown(operator, "align", other, "\"start\" or \"end\"")),
    }
}

fn tail_of(operator: &str, tail: &str) -> PyResult<Tail> {
    match tail {
        "keep" => Ok(Tail::Keep),
        "zero" => Ok(Tail::Zero),
        other => Err(unknown(operator, "tail", other, "\"keep\" or \"zero\"")),
    }
}

fn unknown(operator: &str, argument: &str, given: &str, expected: &str) -> PyErr {
    PyValueError::new_err(format!(
        "{operator}: {argument} {given:?} does not exist, expected {expected}"
    ))
}
