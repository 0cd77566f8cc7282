//! One node: reads its inputs, plans, allocates its output, and runs the engine on the runtime's
//! threads.

use crate::ffi::{OrtKernelContext, OrtValue};
use crate::runtime::{Failure, Runtime};
use crate::sequence::Axes;
use crate::slice::Operands;
use crate::strings;
use crate::tensor::{Integers, Sizes, Tensor, byte_len, filled};
use crate::workers::Pool;
use retrograde::cpu::{Program, with_workers};
use retrograde::{
    DType, ExecuteError, Layout, LengthPolicy, LengthsMemory, LengthsOperator, MemoryMut, Operator,
    Plan, Prepared, Reverse, TensorRef,
};
use smallvec::SmallVec;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

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
    /// The operands of a `Slice`, if all of them are constant.
    constants: Option<Operands>,
    /// The plan of the latest call, which the next call probably needs too.
    latest: Mutex<Option<Arc<Planned>>>,
}

/// A plan, and what it was made for.
#[derive(Debug)]
struct Planned {
    dtype: DType,
    input: Sizes,
    /// False if the operands of a `Slice` are not constant: such a plan serves one call.
    reusable: bool,
    output: Sizes,
    program: Program,
}

impl Planned {
    fn is_for(&self, data: &Tensor) -> bool {
        self.reusable && self.dtype == data.dtype && self.input == data.shape
    }
}

impl Kernel {
    pub(crate) fn new(
        runtime: Runtime,
        operation: Operation,
        inputs: Inputs,
        constants: Option<Operands>,
    ) -> Self {
        Kernel { runtime, operation, inputs, constants, latest: Mutex::new(None) }
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
        // SAFETY: an input of the node, which nothing writes to while the node runs.
        let (lengths, memory) = unsafe {
            let lengths = self.required(context, 1, "sequence_lens")?;
            let memory = lengths.memory(&self.runtime)?;
            (lengths, memory)
        };
        let layout = |tensor: &Tensor| {
            Layout::dense(moved_type(tensor.dtype), &tensor.shape).map_err(Failure::argument)
        };
        // The memory of the lengths is compared with the plan by every run, but their rank is not.
        let planned = self.latest(data).filter(|_| lengths.shape.len() == 1);
        let planned = match planned.filter(|planned| fits(planned.program.plan(), &lengths)) {
            Some(planned) => planned,
            None => {
                let source = layout(data)?;
                let operator = axes.operator(policy);
                let plan = operator.plan(&source, &layout(&lengths)?, &source);
                let plan = plan.map_err(Failure::argument)?;
                self.keep(data, true, data.shape.clone(), plan)
            }
        };
        let explain = |error| {
            let lengths = layout(&lengths).ok().and_then(|it| TensorRef::new(it, memory).ok());
            let operator = Operator::ReverseSequence;
            let prepared = Prepared::from_plan(operator, planned.program.plan().clone(), lengths);
            Failure::argument(prepared.explain(error))
        };
        // SAFETY: the plan is of this input and of an output of its shape.
        unsafe {
            let lengths = LengthsMemory::new(lengths.dtype, memory);
            self.run(context, data, &planned, Some(lengths), explain)
        }
    }

    /// # Safety
    /// As for [`compute`](Self::compute).
    unsafe fn slice(&self, context: *mut OrtKernelContext, data: &Tensor) -> Result<(), Failure> {
        let planned = match self.latest(data) {
            Some(planned) => planned,
            None => {
                // SAFETY: inputs of the node.
                let read =
                    |index: usize, name: &str| unsafe { self.integers(context, index, name) };
                let missing = |name: &str| Failure::argument(format!("Slice: {name} is missing"));
                let view = match &self.constants {
                    Some(constants) => constants.view(&data.shape)?,
                    None => Operands::read(read, missing)?.view(&data.shape)?,
                };
                let dtype = moved_type(data.dtype);
                let source = view.layout(dtype).map_err(Failure::argument)?;
                let target = Layout::dense(dtype, &view.shape).map_err(Failure::argument)?;
                let plan = Reverse::axes([]).plan(&source, &target);
                let plan = plan.map_err(Failure::argument)?;
                self.keep(data, self.constants.is_some(), view.shape, plan)
            }
        };
        let explain = |error| Failure::argument(format!("Slice: {error}"));
        // SAFETY: the plan is of this input and of an output of the view's shape.
        unsafe { self.run(context, data, &planned, None, explain) }
    }

    /// The plan of the latest call, if it is one for this input.
    fn latest(&self, data: &Tensor) -> Option<Arc<Planned>> {
        let latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        latest.as_ref().filter(|planned| planned.is_for(data)).map(Arc::clone)
    }

    /// Keeps a plan for the next call, if that can need it.
    fn keep(&self, data: &Tensor, reusable: bool, output: Sizes, plan: Plan) -> Arc<Planned> {
        let (dtype, input, program) = (data.dtype, data.shape.clone(), Program::new(plan));
        let planned = Arc::new(Planned { dtype, input, reusable, output, program });
        if reusable {
            let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
            *latest = Some(Arc::clone(&planned));
        }
        planned
    }

    /// Allocates the output and moves the elements.
    ///
    /// # Safety
    /// As for [`compute`](Self::compute); the plan reads a dense tensor of the input's shape and
    /// writes a dense one of the output's, of the [moved](moved_type) type.
    unsafe fn run(
        &self,
        context: *mut OrtKernelContext,
        data: &Tensor,
        planned: &Planned,
        lengths: Option<LengthsMemory<'_>>,
        explain: impl FnOnce(ExecuteError) -> Failure,
    ) -> Result<(), Failure> {
        let (runtime, shape, program) = (self.runtime, &planned.output, &planned.program);
        // SAFETY: the context is alive during the call.
        let pool = unsafe { Pool::new(runtime, context) };
        if data.dtype == DType::String {
            let count = data.shape.iter().product();
            let numbers: Vec<u64> = (0..count as u64).collect();
            let mut order = vec![0u64; shape.iter().product()];
            let run = || program.execute((&numbers).into(), lengths, (&mut order).into());
            with_workers(&pool, run).map_err(explain)?;
            // SAFETY: an output of this shape; the positions are a plan's over the input's. The
            // registry allows no alias for strings, so the output is another tensor.
            return unsafe {
                let output = self.output(context, shape)?;
                strings::copy(&runtime, data.value, count, output, &order)
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
            with_workers(&pool, || program.execute(source, lengths, target)).map_err(explain)
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
    unsafe fn integers(
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

/// Whether a plan is for lengths like these.
fn fits(plan: &Plan, lengths: &Tensor) -> bool {
    let expected = plan.lengths().map(|lengths| (lengths.count(), lengths.dtype));
    expected == Some((lengths.shape.iter().product(), lengths.dtype))
}
