//! One node: reads its inputs, plans, allocates its output, and runs the engine on the runtime's
//! threads.

use crate::ffi::{OrtKernelContext, OrtValue};
use crate::runtime::{Failure, Runtime};
use crate::sequence::Axes;
use crate::slice::View;
use crate::strings;
use crate::tensor::{Integers, Sizes, Tensor, byte_len, filled};
use crate::workers::Pool;
use retrograde::cpu::with_workers;
use retrograde::{
    DType, Layout, LengthPolicy, LengthsOperator, MemoryMut, Operator, Plan, Prepared, Reverse,
    TensorRef,
};
use smallvec::SmallVec;
use std::ptr;

/// What a node does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// `ReverseSequence`.
    ReverseSequence(Axes, LengthPolicy),
    /// `Slice`.
    Slice,
}

/// The positions of a node's inputs in the context it is called with; optional ones may be absent.
pub(crate) type Inputs = [Option<usize>; 5];

/// A node, ready to run; shared by concurrent calls.
#[derive(Debug)]
pub(crate) struct Kernel {
    runtime: Runtime,
    operation: Operation,
    inputs: Inputs,
}

impl Kernel {
    pub(crate) fn new(runtime: Runtime, operation: Operation, inputs: Inputs) -> Self {
        Kernel { runtime, operation, inputs }
    }

    /// The runtime that the kernel belongs to.
    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Runs the node.
    ///
    /// # Safety
    /// The runtime called the node with this context.
    pub(crate) unsafe fn compute(&self, context: *mut OrtKernelContext) -> Result<(), Failure> {
        // SAFETY: the runtime's context, as required, passed on with the inputs that it holds.
        unsafe {
            let data = self.required(context, 0, "input")?;
            match self.operation {
                Operation::ReverseSequence(axes, policy) => {
                    self.reverse_sequence(context, &data, axes, policy)
                }
                Operation::Slice => self.slice(context, &data),
            }
        }
    }

    /// # Safety
    /// As for [`compute`](Self::compute).
    unsafe fn reverse_sequence(
        &self,
        context: *mut OrtKernelContext,
        data: &Tensor,
        axes: Axes,
        policy: LengthPolicy,
    ) -> Result<(), Failure> {
        let operator = axes.operator(policy);
        // SAFETY: an input of the node, which nothing writes to while the node runs.
        let lengths = unsafe {
            let lengths = self.required(context, 1, "sequence_lens")?;
            let layout = Layout::dense(lengths.dtype, &lengths.shape).map_err(Failure::argument)?;
            TensorRef::new(layout, lengths.memory(&self.runtime)?).map_err(Failure::argument)?
        };
        let layout = Layout::dense(moved_type(data.dtype), &data.shape);
        let layout = layout.map_err(Failure::argument)?;
        let plan = operator.plan(&layout, lengths.layout(), &layout).map_err(Failure::argument)?;
        let prepared = Prepared::from_plan(Operator::ReverseSequence, plan, Some(lengths));
        // SAFETY: the plan is of this input and of an output of its shape.
        unsafe { self.run(context, data, &data.shape, &prepared) }
    }

    /// # Safety
    /// As for [`compute`](Self::compute).
    unsafe fn slice(&self, context: *mut OrtKernelContext, data: &Tensor) -> Result<(), Failure> {
        // SAFETY: inputs of the node.
        let view = unsafe {
            let starts = self.required(context, 1, "starts")?.integers(&self.runtime, "starts")?;
            let ends = self.required(context, 2, "ends")?.integers(&self.runtime, "ends")?;
            let axes = self.optional(context, 3, "axes")?;
            let steps = self.optional(context, 4, "steps")?;
            View::new(&data.shape, &starts, &ends, axes.as_deref(), steps.as_deref())?
        };
        let dtype = moved_type(data.dtype);
        let source = view.layout(dtype).map_err(Failure::argument)?;
        let target = Layout::dense(dtype, &view.shape).map_err(Failure::argument)?;
        let plan: Plan = Reverse::axes([]).plan(&source, &target).map_err(Failure::argument)?;
        let prepared = Prepared::from_plan(Operator::Reverse, plan, None);
        // SAFETY: the plan is of this input and of an output of the view's shape.
        unsafe { self.run(context, data, &view.shape, &prepared) }
    }

    /// Allocates the output and moves the elements.
    ///
    /// # Safety
    /// As for [`compute`](Self::compute); the plan reads a dense tensor of the input's shape and
    /// writes a dense one of `shape`, of the [moved](moved_type) type.
    unsafe fn run(
        &self,
        context: *mut OrtKernelContext,
        data: &Tensor,
        shape: &Sizes,
        prepared: &Prepared<'_>,
    ) -> Result<(), Failure> {
        let runtime = self.runtime;
        // SAFETY: the context is alive during the call.
        let pool = unsafe { Pool::new(runtime, context) };
        if data.dtype == DType::String {
            let order = with_workers(&pool, || positions(&data.shape, shape, prepared))?;
            // SAFETY: an output of this shape; the positions are a plan's over the input's. The
            // registry allows no alias for strings, so the output is another tensor.
            return unsafe {
                let output = self.output(context, shape)?;
                strings::copy(runtime, &pool, data.value, output, &order)
            };
        }
        let bytes = byte_len(data.dtype, shape)?;
        let mut target = ptr::null_mut();
        // SAFETY: the input's memory is only read, or, where the runtime gives it to the output
        // too, is written by this very call, which checks both for overlap. The output has
        // exactly the bytes of its elements.
        unsafe {
            let output = self.output(context, shape)?;
            runtime.check(runtime.api.tensor_mutable_data(output, &mut target))?;
            let source = data.memory(&runtime)?;
            let target = filled(target);
            let in_place = source.as_ptr() == target.cast_const();
            let target = MemoryMut::from_raw(target, bytes, in_place);
            with_workers(&pool, || prepared.run(source, target)).map_err(Failure::argument)
        }
    }

    /// # Safety
    /// As for [`compute`](Self::compute).
    unsafe fn output(
        &self,
        context: *mut OrtKernelContext,
        shape: &Sizes,
    ) -> Result<*mut OrtValue, Failure> {
        let dims: SmallVec<[i64; 8]> = shape.iter().map(|&size| size as i64).collect();
        let mut output = ptr::null_mut();
        // SAFETY: the runtime's context; it copies the sizes.
        let status = unsafe {
            self.runtime.api.context_output(context, 0, dims.as_ptr(), dims.len(), &mut output)
        };
        self.runtime.check(status)?;
        Ok(output)
    }

    /// # Safety
    /// As for [`compute`](Self::compute).
    unsafe fn input(
        &self,
        context: *mut OrtKernelContext,
        index: usize,
    ) -> Result<Option<Tensor>, Failure> {
        let Some(position) = self.inputs[index] else { return Ok(None) };
        let mut value = ptr::null();
        // SAFETY: the runtime's context, which has this input.
        unsafe {
            self.runtime.check(self.runtime.api.context_input(context, position, &mut value))?;
            if value.is_null() {
                return Ok(None);
            }
            Tensor::new(&self.runtime, value).map(Some)
        }
    }

    /// # Safety
    /// As for [`compute`](Self::compute).
    unsafe fn required(
        &self,
        context: *mut OrtKernelContext,
        index: usize,
        name: &str,
    ) -> Result<Tensor, Failure> {
        // SAFETY: passed on.
        let tensor = unsafe { self.input(context, index)? };
        tensor.ok_or_else(|| Failure::argument(format!("{name} is missing")))
    }

    /// # Safety
    /// As for [`compute`](Self::compute).
    unsafe fn optional(
        &self,
        context: *mut OrtKernelContext,
        index: usize,
        name: &str,
    ) -> Result<Option<Integers>, Failure> {
        // SAFETY: passed on.
        unsafe {
            let tensor = self.input(context, index)?;
            tensor.map(|tensor| tensor.integers(&self.runtime, name)).transpose()
        }
    }
}

/// The type that a plan moves: of strings, their positions.
fn moved_type(dtype: DType) -> DType {
    if dtype == DType::String { DType::U64 } else { dtype }
}

/// Which element of the input every element of the output is.
fn positions(from: &Sizes, to: &Sizes, prepared: &Prepared<'_>) -> Result<Vec<u64>, Failure> {
    let count = |shape: &Sizes| shape.iter().product::<usize>();
    let numbers: Vec<u64> = (0..count(from) as u64).collect();
    let mut order = vec![0u64; count(to)];
    prepared.run(&numbers, &mut order).map_err(Failure::argument)?;
    Ok(order)
}
