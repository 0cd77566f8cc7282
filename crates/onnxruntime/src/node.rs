//! A node of a model: what is known of it before it runs, and whether the provider can run it.

use crate::ffi::{ATTRIBUTE_INT, OrtGraph, OrtNode, OrtValueInfo};
use crate::kernel::Operation;
use crate::options::Options;
use crate::runtime::{Failure, Runtime, text};
use crate::sequence::{Axes, DEFAULT_BATCH, DEFAULT_TIME};
use crate::slice::Operands;
use crate::tensor::{Integers, Tensor, element};
use retrograde::DType;
use smallvec::SmallVec;
use std::ffi::{CStr, c_char};
use std::ptr;

/// Bytes that a string counts as: what the runtime's own type occupies.
const STRING_BYTES: u64 = 32;

/// From this size of input on the provider is faster (`bench/runtimes.py`).
const FROM: u64 = 1 << 10;
/// The same if whole rows of at least [`WIDE_ROW`] bytes move, which others copy as fast: only
/// threads and non-temporal stores are faster.
const FROM_WIDE: u64 = 1 << 20;
const WIDE_ROW: u64 = 64;

/// A node of the runtime's graph.
pub(crate) struct Node<'a> {
    runtime: &'a Runtime,
    pub(crate) node: *const OrtNode,
    pub(crate) operator: &'a str,
    domain: &'a str,
    since: i32,
    inputs: SmallVec<[*const OrtValueInfo; 5]>,
}

/// What is declared or inferred about a value.
struct Known {
    dtype: DType,
    /// None if the rank is unknown; -1 for an unknown size.
    dims: Option<Integers>,
}

impl<'a> Node<'a> {
    /// The nodes of a graph.
    ///
    /// # Safety
    /// The graph is the runtime's, and lives as long as the result.
    pub(crate) unsafe fn all_of(
        runtime: &'a Runtime,
        graph: *const OrtGraph,
    ) -> Result<Vec<Self>, Failure> {
        let mut count = 0;
        // SAFETY: as required; there is room for `count` nodes.
        unsafe {
            runtime.check(runtime.api.node_count(graph, &mut count))?;
            let mut nodes = vec![ptr::null(); count];
            runtime.check(runtime.api.nodes(graph, nodes.as_mut_ptr(), count))?;
            nodes.into_iter().map(|node| Node::new(runtime, node)).collect()
        }
    }

    /// # Safety
    /// The node is the runtime's, and lives as long as the result.
    pub(crate) unsafe fn new(runtime: &'a Runtime, node: *const OrtNode) -> Result<Self, Failure> {
        let api = &runtime.api;
        let (mut operator, mut domain) = (ptr::null(), ptr::null());
        let (mut since, mut count) = (0, 0);
        // SAFETY: as required; texts live as long as the node, and there is room for all inputs.
        unsafe {
            runtime.check(api.node_operator(node, &mut operator))?;
            runtime.check(api.node_domain(node, &mut domain))?;
            runtime.check(api.node_since(node, &mut since))?;
            runtime.check(api.node_input_count(node, &mut count))?;
            let mut inputs = SmallVec::from_elem(ptr::null(), count);
            runtime.check(api.node_inputs(node, inputs.as_mut_ptr(), count))?;
            let (operator, domain) = (text(operator), text(domain));
            Ok(Node { runtime, node, operator, domain, since, inputs })
        }
    }

    /// Whether the operator is one that the provider may claim.
    pub(crate) fn is_candidate(&self) -> bool {
        matches!(self.domain, "" | "ai.onnx")
            && matches!(self.operator, "ReverseSequence" | "Slice")
    }

    /// What the provider would run for it, or why it leaves the node to others.
    pub(crate) fn operation(&self, options: &Options) -> Result<Operation, String> {
        if !self.is_candidate() {
            return Err("another operator".to_owned());
        }
        if self.since < 10 {
            return Err(format!("opset {} has no operator of this form", self.since));
        }
        let (operation, row) = match self.operator {
            "Slice" => self.slice()?,
            _ => (self.reverse_sequence(options)?, 2),
        };
        self.check_size(row, options)?;
        Ok(operation)
    }

    fn reverse_sequence(&self, options: &Options) -> Result<Operation, String> {
        let time = self.attribute(c"time_axis").unwrap_or(DEFAULT_TIME);
        let batch = self.attribute(c"batch_axis").unwrap_or(DEFAULT_BATCH);
        match Axes::new(time, batch) {
            Some(axes) => Ok(Operation::ReverseSequence(axes, options.policy)),
            None => Err(format!("time_axis is {time} and batch_axis {batch}, expected 0 and 1")),
        }
    }

    /// Also returns the axis that rows begin at.
    fn slice(&self) -> Result<(Operation, usize), String> {
        let steps = self.inputs.get(4).filter(|steps| !steps.is_null());
        let Some(&steps) = steps else { return Err("its steps are 1".to_owned()) };
        match self.constant(steps) {
            None => Err("its steps are not constant".to_owned()),
            Some(steps) if steps.iter().any(|&step| step < 0) => {
                Ok((Operation::Slice, self.row_of_slice(&steps)))
            }
            Some(steps) => Err(format!("no step is negative: {:?}", &steps[..])),
        }
    }

    /// Leaves nodes to others that they run faster. Rows begin at axis `row`: elements that stay
    /// together.
    fn check_size(&self, row: usize, options: &Options) -> Result<(), String> {
        let known = self.inputs.first().and_then(|&input| self.known(input));
        let Some(known) = known else { return Err("the type of its input is unknown".to_owned()) };
        if known.dtype == DType::String && !options.strings {
            return Err("its elements are strings, which others copy faster".to_owned());
        }
        let Some(dims) = known.dims else { return Ok(()) };
        let width = known.dtype.bits().map_or(STRING_BYTES, |bits| bits as u64 / 8);
        let bytes = |dims: &[i64]| {
            let times = |all: u64, &size: &i64| Some(all.saturating_mul(size.try_into().ok()?));
            dims.iter().try_fold(width, times)
        };
        let rows = bytes(dims.get(row..).unwrap_or_default());
        let wide = rows.is_some_and(|bytes| bytes >= WIDE_ROW);
        let from = if wide { FROM_WIDE } else { FROM };
        let least = options.min_bytes.map_or(from, |bytes| bytes as u64);
        match bytes(&dims) {
            Some(bytes) if bytes < least => {
                Err(format!("its input has {bytes} bytes, fewer than {least}"))
            }
            _ => Ok(()),
        }
    }

    /// The first axis behind those that a `Slice` changes; beyond all axes if they are not known,
    /// or count from the end.
    fn row_of_slice(&self, steps: &[i64]) -> usize {
        let last = steps.iter().rposition(|&step| step != 1).unwrap_or(0);
        let axis = match self.inputs.get(3) {
            Some(&axes) if !self.name_of(axes).is_empty() => self.constant(axes).and_then(|axes| {
                let changed = axes.iter().zip(steps).filter(|&(_, &step)| step != 1);
                let axes = changed.map(|(&axis, _)| usize::try_from(axis).ok());
                axes.max().flatten()
            }),
            _ => Some(last),
        };
        axis.map_or(usize::MAX, |axis| axis + 1)
    }

    /// The operands of a `Slice`, if all that it has are constant.
    pub(crate) fn constants(&self) -> Option<Operands> {
        if self.operator != "Slice" {
            return None;
        }
        let read = |index: usize, _: &str| match self.inputs.get(index) {
            Some(&input) if !self.name_of(input).is_empty() => {
                self.constant(input).map(Some).ok_or(())
            }
            _ => Ok(None),
        };
        Operands::read(read, |_| ()).ok()
    }

    /// The names of the inputs; empty for one that is absent.
    pub(crate) fn input_names(&self) -> Vec<&'a str> {
        self.inputs.iter().map(|&input| self.name_of(input)).collect()
    }

    /// The node's own name, which may be empty.
    pub(crate) fn name(&self) -> &'a str {
        let mut name = ptr::null();
        // SAFETY: the node lives as long as `'a` (`new`).
        let status = unsafe { self.runtime.api.node_name(self.node, &mut name) };
        // SAFETY: null, or the node's text.
        if self.runtime.succeeded(status) { unsafe { text(name) } } else { "" }
    }

    /// The name of its first output, which is unique in its graph.
    pub(crate) fn output_name(&self) -> &'a str {
        let api = &self.runtime.api;
        let mut count = 0;
        // SAFETY: the node lives as long as `'a` (`new`), and there is room for all outputs.
        unsafe {
            if !self.runtime.succeeded(api.node_output_count(self.node, &mut count)) || count == 0 {
                return "";
            }
            let mut outputs = vec![ptr::null(); count];
            let status = api.node_outputs(self.node, outputs.as_mut_ptr(), count);
            if self.runtime.succeeded(status) { self.name_of(outputs[0]) } else { "" }
        }
    }

    fn name_of(&self, value: *const OrtValueInfo) -> &'a str {
        if value.is_null() {
            return "";
        }
        let mut name: *const c_char = ptr::null();
        // SAFETY: a value of the node, which lives as long as `'a`.
        let status = unsafe { self.runtime.api.value_name(value, &mut name) };
        // SAFETY: null, or the value's text.
        if self.runtime.succeeded(status) { unsafe { text(name) } } else { "" }
    }

    fn attribute(&self, name: &CStr) -> Option<i64> {
        let api = &self.runtime.api;
        let (mut attribute, mut value, mut size) = (ptr::null(), 0i64, 0);
        // SAFETY: the node's own attribute; an integer takes eight bytes.
        unsafe {
            let status = api.node_attribute(self.node, name.as_ptr(), &mut attribute);
            if !self.runtime.succeeded(status) || attribute.is_null() {
                return None;
            }
            let data = (&raw mut value).cast();
            let len = size_of::<i64>();
            let status = api.read_attribute(attribute, ATTRIBUTE_INT, data, len, &mut size);
            self.runtime.succeeded(status).then_some(value)
        }
    }

    /// The integers of a constant; none if the value is computed, or could be replaced by an input.
    fn constant(&self, value: *const OrtValueInfo) -> Option<Integers> {
        let api = &self.runtime.api;
        let (mut constant, mut tensor) = (false, ptr::null());
        // SAFETY: a value of the node; the initializer lives as long as the graph.
        unsafe {
            let status = api.is_constant(value, &mut constant);
            if !self.runtime.succeeded(status) || !constant {
                return None;
            }
            let status = api.initializer(value, &mut tensor);
            if !self.runtime.succeeded(status) || tensor.is_null() {
                return None;
            }
            let tensor = Tensor::new(self.runtime, tensor);
            let integers = tensor.and_then(|tensor| tensor.integers(self.runtime, "steps"));
            integers.map_err(|failure| failure.release(self.runtime)).ok()
        }
    }

    /// Type and shape of a tensor; none if the type is not one that the provider knows.
    fn known(&self, value: *const OrtValueInfo) -> Option<Known> {
        let api = &self.runtime.api;
        let (mut info, mut tensor) = (ptr::null(), ptr::null());
        let (mut code, mut count) = (0, 0);
        // SAFETY: a value of the node, which owns the information about it.
        unsafe {
            let ok = |status| self.runtime.succeeded(status);
            if value.is_null() || !ok(api.value_type(value, &mut info)) || info.is_null() {
                return None;
            }
            if !ok(api.tensor_info(info, &mut tensor)) || tensor.is_null() {
                return None;
            }
            if !ok(api.element_type(tensor, &mut code))
                || !ok(api.dimensions_count(tensor, &mut count))
            {
                return None;
            }
            let mut dims: Integers = SmallVec::from_elem(-1, count);
            let read = ok(api.dimensions(tensor, dims.as_mut_ptr(), count));
            // An unknown rank is reported as 0, which no input of these operators has.
            Some(Known { dtype: element(code)?, dims: (read && count > 0).then_some(dims) })
        }
    }
}
