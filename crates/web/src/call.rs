//! A call: an operator with its axes and lengths, for a dense tensor of a shape and type.

use crate::number;
use crate::options::Options;
use crate::picture;
use crate::values::{Entries, Values, dtype};
use retrograde::{
    Error, Layout, LengthPolicy, LengthsOperator, Mask, Prepared, Reversal, Reverse,
    ReverseSegments, ReverseSequence, ReverseSubsequences, Table, WithLengths,
};
use retrograde_picture::{Movement, Padding};
use wasm_bindgen::prelude::{JsError, wasm_bindgen};

#[derive(Debug, Clone)]
enum Operation {
    /// With the axis that a mask has the entries of.
    Reverse(Reverse, i64),
    Sequence(ReverseSequence, Values),
    Subsequences(ReverseSubsequences, Values),
    Segments(ReverseSegments, Values),
}

/// An operator with its axes and lengths, for a dense tensor of a shape and element type.
#[wasm_bindgen]
#[derive(Debug, Clone)]
pub struct Call {
    layout: Layout,
    operation: Operation,
    mask: Option<Entries>,
    table: Option<Table>,
    /// For pictures: axes as they were given, which may count from the end.
    axes: Vec<i64>,
    padding: Padding,
}

/// The layout of the tensor.
fn dense(operator: &str, name: &str, shape: &[f64]) -> Result<Layout, String> {
    let shape = number::sizes(operator, shape)?;
    Layout::dense(dtype(operator, "input", name)?, &shape)
        .map_err(|error| format!("{operator}: input: {error}"))
}

/// An operator with its lengths, and the mask if there is one.
fn masked<'a, O: LengthsOperator>(
    bound: WithLengths<'a, O>,
    mask: Option<Mask<'a>>,
) -> WithLengths<'a, O> {
    match mask {
        Some(mask) => bound.where_(mask),
        None => bound,
    }
}

impl Call {
    fn new(layout: Layout, operation: Operation, axes: Vec<i64>) -> Self {
        let padding = Padding::default();
        Call { layout, operation, mask: None, table: None, axes, padding }
    }

    /// Checks the operands, plans the call and hands it to `work`.
    pub(crate) fn with<T>(
        &self,
        work: impl FnOnce(&Prepared<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mask = self.mask.as_ref().map(Entries::mask).transpose()?;
        let prepared = match (&self.operation, mask) {
            (Operation::Reverse(operator, _), None) => self.prepared(operator),
            (Operation::Reverse(operator, batch), Some(mask)) => {
                self.prepared(&operator.clone().batch(*batch).where_(mask))
            }
            (Operation::Sequence(operator, values), mask) => {
                self.prepared(&masked(operator.lengths(values.lengths()?), mask))
            }
            (Operation::Subsequences(operator, values), mask) => {
                self.prepared(&masked(operator.lengths(values.lengths()?), mask))
            }
            (Operation::Segments(operator, values), mask) => {
                self.prepared(&masked(operator.offsets(values.lengths()?), mask))
            }
        };
        work(&prepared?)
    }

    fn prepared<'a>(&self, reversal: &impl Reversal<'a>) -> Result<Prepared<'a>, Error> {
        match &self.table {
            Some(table) => reversal.table(table).prepare(&self.layout, &self.layout),
            None => reversal.prepare(&self.layout, &self.layout),
        }
    }

    /// The plan, after all checks of a run: those of the lengths too.
    pub(crate) fn checked<T>(&self, work: impl FnOnce(&Prepared<'_>) -> T) -> Result<T, JsError> {
        let checked = self.with(|prepared| {
            prepared.check()?;
            Ok(work(prepared))
        });
        Ok(checked?)
    }

    /// The layout of the tensor.
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Lengths or offsets, if the operator has any.
    fn values(&self) -> Option<&Values> {
        match &self.operation {
            Operation::Reverse(..) => None,
            Operation::Sequence(_, values)
            | Operation::Subsequences(_, values)
            | Operation::Segments(_, values) => Some(values),
        }
    }

    /// What the tensor's memory must be: exactly as large as the layout.
    pub(crate) fn check_bytes(&self, argument: &str, available: usize) -> Result<(), JsError> {
        let (expected, shape) = (self.layout.byte_len(), self.layout.shape());
        if expected == available {
            return Ok(());
        }
        let (operator, dtype) = (self.operator(), self.layout.dtype());
        Err(JsError::new(&format!(
            "{operator}: {argument}: shape {shape:?} of {dtype} takes {expected} bytes but the \
             array has {available}"
        )))
    }

    /// The axis at a position of `axes`, counted from the start.
    fn axis(&self, at: usize) -> usize {
        let (axis, rank) = (self.axes[at], self.layout.rank() as i64);
        usize::try_from(if axis < 0 { axis + rank } else { axis }).unwrap_or(0)
    }

    fn movement(&self) -> Movement {
        match &self.operation {
            Operation::Reverse(..) => {
                let mut axes: Vec<_> = (0..self.axes.len()).map(|at| self.axis(at)).collect();
                axes.sort_unstable();
                axes.dedup();
                Movement::Axes(axes)
            }
            Operation::Sequence(..) => {
                let (time, batch) = (self.axis(0), self.axis(1));
                Movement::Sequence { time, batch, padding: self.padding }
            }
            Operation::Subsequences(..) => {
                Movement::Lanes { axis: self.axis(0), padding: self.padding }
            }
            Operation::Segments(_, values) => {
                let offsets = values.integers().into_iter().filter_map(|at| at.try_into().ok());
                Movement::Segments { axis: self.axis(0), offsets: offsets.collect() }
            }
        }
    }
}

#[wasm_bindgen]
impl Call {
    /// `Reverse`: along these axes, or the axes of a mask, or all of them. `where` has entries of the
    /// batch axis.
    pub fn reverse(
        dtype: &str,
        shape: &[f64],
        axes: Option<Vec<f64>>,
        mask: Option<Vec<u8>>,
        distinct: bool,
        batch_axis: f64,
    ) -> Result<Call, JsError> {
        let name = "Reverse";
        let layout = dense(name, dtype, shape).map_err(js)?;
        let batch = number::axis(name, "batch_axis", batch_axis).map_err(js)?;
        let (operator, axes) = match (axes, mask) {
            (Some(_), Some(_)) => {
                return Err(JsError::new("Reverse: axes and mask are given, expected one of them"));
            }
            (Some(axes), None) => {
                let axes = number::axes(name, &axes).map_err(js)?;
                (Reverse::axes(axes.iter().copied()), axes)
            }
            (None, Some(mask)) => {
                let on = |(axis, on): (usize, &u8)| (*on != 0).then_some(axis as i64);
                let axes = mask.iter().enumerate().filter_map(on).collect();
                (Reverse::mask(mask.iter().map(|on| *on != 0)), axes)
            }
            (None, None) => (Reverse::all(), (0..shape.len() as i64).collect()),
        };
        let operator = if distinct { operator.distinct() } else { operator };
        Ok(Call::new(layout, Operation::Reverse(operator, batch), axes))
    }

    /// `ReverseSequence`: one length for each index of the batch axis.
    #[allow(clippy::too_many_arguments, reason = "called by package/index.js only")]
    pub fn sequence(
        dtype: &str,
        shape: &[f64],
        lengths_dtype: &str,
        lengths: &[u8],
        lengths_shape: Option<Vec<f64>>,
        time_axis: f64,
        batch_axis: f64,
        policy: &str,
        align: &str,
        tail: &str,
    ) -> Result<Call, JsError> {
        let name = "ReverseSequence";
        let layout = dense(name, dtype, shape).map_err(js)?;
        let time = number::axis(name, "time_axis", time_axis).map_err(js)?;
        let batch = number::axis(name, "batch_axis", batch_axis).map_err(js)?;
        let options = Options::parse(name, policy, align, tail).map_err(js)?;
        let values =
            Values::parse(name, "lengths", lengths_dtype, lengths, lengths_shape).map_err(js)?;
        let operator = ReverseSequence::new()
            .time_axis(time)
            .batch_axis(batch)
            .policy(options.policy)
            .align(options.align)
            .tail(options.tail);
        let operation = Operation::Sequence(operator, values);
        let padding = options.padding();
        Ok(Call { padding, ..Call::new(layout, operation, vec![time, batch]) })
    }

    /// `ReverseSubsequences`: one length for each lane along the axis.
    #[allow(clippy::too_many_arguments, reason = "called by package/index.js only")]
    pub fn subsequences(
        dtype: &str,
        shape: &[f64],
        lengths_dtype: &str,
        lengths: &[u8],
        lengths_shape: Option<Vec<f64>>,
        axis: f64,
        policy: &str,
        align: &str,
        tail: &str,
    ) -> Result<Call, JsError> {
        let name = "ReverseSubsequences";
        let layout = dense(name, dtype, shape).map_err(js)?;
        let axis = number::axis(name, "axis", axis).map_err(js)?;
        let options = Options::parse(name, policy, align, tail).map_err(js)?;
        let values =
            Values::parse(name, "lengths", lengths_dtype, lengths, lengths_shape).map_err(js)?;
        let operator = ReverseSubsequences::along(axis)
            .policy(options.policy)
            .align(options.align)
            .tail(options.tail);
        let operation = Operation::Subsequences(operator, values);
        Ok(Call { padding: options.padding(), ..Call::new(layout, operation, vec![axis]) })
    }

    /// `ReverseSubsequences` of whole lanes, for a mask that says which.
    pub fn lanes(dtype: &str, shape: &[f64], axis: f64) -> Result<Call, JsError> {
        let name = "ReverseSubsequences";
        let layout = dense(name, dtype, shape).map_err(js)?;
        let axis = number::axis(name, "axis", axis).map_err(js)?;
        let operator = ReverseSubsequences::along(axis).policy(LengthPolicy::Clamp);
        let values = Values::beyond_any(operator.lengths_shape(layout.shape())?);
        Ok(Call::new(layout, Operation::Subsequences(operator, values), vec![axis]))
    }

    /// `ReverseSegments`: an axis, cut at offsets.
    pub fn segments(
        dtype: &str,
        shape: &[f64],
        offsets_dtype: &str,
        offsets: &[u8],
        offsets_shape: Option<Vec<f64>>,
        axis: f64,
    ) -> Result<Call, JsError> {
        let name = "ReverseSegments";
        let layout = dense(name, dtype, shape).map_err(js)?;
        let axis = number::axis(name, "axis", axis).map_err(js)?;
        let values =
            Values::parse(name, "offsets", offsets_dtype, offsets, offsets_shape).map_err(js)?;
        let operation = Operation::Segments(ReverseSegments::along(axis), values);
        Ok(Call::new(layout, operation, vec![axis]))
    }

    /// Reverses only those entries that are true.
    pub fn set_where(
        &mut self,
        dtype: &str,
        entries: &[u8],
        shape: Option<Vec<f64>>,
    ) -> Result<(), JsError> {
        let values = Values::parse(&self.operator(), "where", dtype, entries, shape);
        self.mask = Some(values.map_err(js)?.into());
        Ok(())
    }

    /// Looks up in this table what is reversed.
    pub fn set_table(&mut self, entries: &[u8]) -> Result<(), JsError> {
        let table = Table::new(entries).map_err(|error| format!("{}: {error}", self.operator()));
        self.table = Some(table.map_err(js)?);
        Ok(())
    }

    /// The operator's name.
    pub fn operator(&self) -> String {
        self.movement().operator().to_owned()
    }

    /// Runs on the bytes of a tensor, and returns those of the result.
    pub fn run(&self, input: &[u8]) -> Result<Vec<u8>, JsError> {
        self.check_bytes("input", input.len())?;
        // Zeroed pages come from the system; a vector without them would need `unsafe` here.
        let mut output = vec![0; input.len()];
        self.with(|prepared| prepared.run(input, &mut output[..]))?;
        Ok(output)
    }

    /// Runs on the bytes of a tensor, in place.
    pub fn run_in_place(&self, data: &mut [u8]) -> Result<(), JsError> {
        self.check_bytes("input", data.len())?;
        Ok(self.with(|prepared| prepared.run_in_place(data))?)
    }

    /// Checks all operands, the values of lengths too, without a tensor.
    pub fn check(&self) -> Result<(), JsError> {
        self.checked(|_| ())
    }

    /// The plan in words.
    pub fn plan(&self) -> Result<String, JsError> {
        self.checked(|prepared| prepared.plan().to_string())
    }

    /// The kernel that the engine would run, and what it does: `name: description`.
    pub fn kernel(&self) -> Result<String, JsError> {
        self.checked(|prepared| prepared.program().to_string())
    }

    /// The bytes that are read and written, together.
    pub fn bytes_moved(&self) -> Result<f64, JsError> {
        self.checked(|prepared| prepared.plan().bytes_moved() as f64)
    }

    /// A picture of the call: `"text"`, `"svg"` or `"html"`. Elements are given as text, one a
    /// line, in row-major order.
    pub fn picture(&self, elements: &str, what: &str, format: &str) -> Result<String, JsError> {
        if self.mask.is_some() || self.table.is_some() {
            return Err(JsError::new("picture: a call with where or a table has none"));
        }
        self.check()?;
        let lengths = self.values().map_or_else(Vec::new, Values::integers);
        let shape = self.layout.shape();
        let drawn = picture::draw(&self.movement(), shape, &lengths, elements, what, format);
        drawn.map_err(|error| JsError::new(&error))
    }
}

/// An error of this crate as one of JavaScript.
fn js(message: String) -> JsError {
    JsError::new(&message)
}
