//! The C interface under test: the functions of `retrograde.h`, with a handle, a description and a
//! status each, as a C program calls them. Also on a CUDA device, if there is one.

use crate::backend::{Backend, Outcome};
use crate::case::{Case, CaseLengths, Integer, Operation, Output, Policy, Rule};
use crate::oracle::indices;
use crate::placement::{Placement, Width};
use retrograde::cpu::{Isa, Tuning};
use retrograde_c::call::{
    Call, retrograde_call_destroy, retrograde_prepare, retrograde_run, retrograde_run_in_place,
};
use retrograde_c::dtype::*;
use retrograde_c::guard::{retrograde_last_error, retrograde_last_error_position};
use retrograde_c::operator::*;
use retrograde_c::status::{RETROGRADE_LENGTH_OUT_OF_RANGE, RETROGRADE_OK, Status};
use retrograde_c::tensor::{RETROGRADE_ELEMENTS, RETROGRADE_STRIDE_BYTES, Tensor};
use std::ffi::CStr;
use std::ptr::{null, null_mut};

/// The C interface on the CPU, as users get it.
#[derive(Debug)]
pub struct CInterface {
    isa: Isa,
    thorough: bool,
}

impl CInterface {
    /// With a sample of the small calls: the engine behind it runs them all.
    pub fn new() -> Self {
        CInterface { isa: Isa::current(), thorough: false }
    }

    /// With every small call.
    pub fn thorough() -> Self {
        CInterface { thorough: true, ..Self::new() }
    }
}

impl Default for CInterface {
    fn default() -> Self {
        Self::new()
    }
}

impl Backend for CInterface {
    fn name(&self) -> &str {
        "c"
    }

    fn prepare(&self) {
        self.isa.force();
        Tuning::default().apply();
    }

    fn is_thorough(&self) -> bool {
        self.thorough
    }

    fn run(&self, case: &Case, input: &[u8], output: &mut [u8]) -> Outcome {
        with_call(case, |call| {
            let (lengths, bytes) = lengths_of(case);
            let (src, dst) = (input.as_ptr().cast(), output.as_mut_ptr().cast());
            // SAFETY: the call is valid, and the buffers are slices.
            unsafe { retrograde_run(call, src, input.len(), lengths, bytes, dst, output.len()) }
        })
    }

    fn run_in_place(&self, case: &Case, memory: &mut [u8]) -> Outcome {
        with_call(case, |call| {
            let (lengths, bytes) = lengths_of(case);
            let data = memory.as_mut_ptr().cast();
            // SAFETY: the call is valid, and the buffer is a slice.
            unsafe { retrograde_run_in_place(call, lengths, bytes, data, memory.len()) }
        })
    }
}

fn lengths_of(case: &Case) -> (*const std::ffi::c_void, usize) {
    let buffer = case.lengths.as_deref().map(|lengths| &lengths.buffer);
    buffer.map_or((null(), 0), |buffer| (buffer.as_ptr().cast(), buffer.len()))
}

/// Prepares a case, runs it and destroys the call.
pub(crate) fn with_call(case: &Case, run: impl FnOnce(*const Call) -> Status) -> Outcome {
    let made = operator(case).and_then(|op| {
        let call = prepared(case, op);
        // SAFETY: made in `operator`, destroyed once.
        unsafe { retrograde_operator_destroy(op) };
        call
    });
    let done = made.and_then(|call| {
        let status = run(call);
        let done = succeeded(status);
        // SAFETY: made in `prepared`, destroyed once.
        unsafe { retrograde_call_destroy(call) };
        done
    });
    match done {
        Ok(()) => Outcome::Done,
        Err(RETROGRADE_LENGTH_OUT_OF_RANGE) => {
            let shape = case.lengths.as_ref().map_or(&[][..], |lengths| &lengths.placement.shape);
            let position = retrograde_last_error_position();
            match usize::try_from(position).ok().and_then(|at| indices(shape).get(at).cloned()) {
                Some(index) => Outcome::BadLength(index),
                None => Outcome::Refused(format!("position {position}: {}", message())),
            }
        }
        Err(status) => Outcome::Refused(format!("status {status}: {}", message())),
    }
}

fn message() -> String {
    // SAFETY: a string of this thread, until its next failure.
    unsafe { CStr::from_ptr(retrograde_last_error()) }.to_string_lossy().into_owned()
}

fn succeeded(status: Status) -> Result<(), Status> {
    if status == RETROGRADE_OK { Ok(()) } else { Err(status) }
}

/// The operator of a case.
fn operator(case: &Case) -> Result<*mut Operator, Status> {
    let kind = match case.operation {
        Operation::Reverse { .. } => RETROGRADE_REVERSE,
        Operation::Sequence { .. } => RETROGRADE_REVERSE_SEQUENCE,
        Operation::Subsequences { .. } => RETROGRADE_REVERSE_SUBSEQUENCES,
        Operation::Segments { .. } => RETROGRADE_REVERSE_SEGMENTS,
    };
    let mut op = null_mut();
    // SAFETY: the result can be written.
    succeeded(unsafe { retrograde_operator_create(kind, &mut op) })?;
    // SAFETY: in all arms the operator is valid, and the mask has as many entries.
    let set = unsafe {
        match &case.operation {
            Operation::Reverse { flips } => {
                let mask: Vec<u8> = flips.iter().map(|&flip| u8::from(flip)).collect();
                succeeded(retrograde_operator_set_mask(op, mask.as_ptr(), mask.len()))
            }
            Operation::Sequence { time, batch, rule } => {
                let any = match time + batch {
                    1 => RETROGRADE_OK,
                    _ => retrograde_operator_set_any_axes(op),
                };
                succeeded(any)
                    .and_then(|()| succeeded(retrograde_operator_set_time_axis(op, *time as i64)))
                    .and_then(|()| succeeded(retrograde_operator_set_batch_axis(op, *batch as i64)))
                    .and_then(|()| set_rule(op, *rule))
            }
            Operation::Subsequences { axis, rule } => {
                succeeded(retrograde_operator_set_axis(op, *axis as i64))
                    .and_then(|()| set_rule(op, *rule))
            }
            Operation::Segments { axis } => {
                succeeded(retrograde_operator_set_axis(op, *axis as i64))
            }
        }
    };
    if set.is_err() {
        // SAFETY: made above, destroyed once.
        unsafe { retrograde_operator_destroy(op) };
    }
    set.map(|()| op)
}

fn set_rule(op: *mut Operator, Rule { policy, end, zero }: Rule) -> Result<(), Status> {
    let policy = match policy {
        Policy::Strict => RETROGRADE_STRICT,
        Policy::Clamp => RETROGRADE_CLAMP,
    };
    // SAFETY: the operator is valid.
    unsafe {
        succeeded(retrograde_operator_set_policy(op, policy))?;
        succeeded(retrograde_operator_set_align(op, u32::from(end)))?;
        succeeded(retrograde_operator_set_tail(op, u32::from(zero)))
    }
}

fn prepared(case: &Case, op: *const Operator) -> Result<*mut Call, Status> {
    let input = Described::new(&case.input);
    let lengths = case.lengths.as_deref().map(Described::of_lengths);
    let output = match &case.output {
        Output::InPlace => Described::new(&case.input),
        Output::Separate(placement) => Described::new(placement),
    };
    let (input, output) = (input.tensor(), output.tensor());
    let lengths = lengths.as_ref().map(Described::tensor);
    let lengths = lengths.as_ref().map_or(null(), std::ptr::from_ref);
    let mut call = null_mut();
    // SAFETY: the descriptions are complete, and the result can be written.
    succeeded(unsafe { retrograde_prepare(op, &input, lengths, &output, &mut call) })?;
    Ok(call)
}

/// The arrays of a description.
struct Described {
    dtype: ElementType,
    element_bytes: usize,
    in_bytes: bool,
    shape: Vec<i64>,
    strides: Option<Vec<i64>>,
    offset: usize,
}

impl Described {
    fn new(placement: &Placement) -> Self {
        let (dtype, element_bytes) = element_type(placement.width);
        let strides = placement.strides.iter().map(|&stride| stride as i64).collect();
        Described {
            dtype,
            element_bytes,
            in_bytes: !placement.width.is_packed(),
            shape: placement.shape.iter().map(|&size| size as i64).collect(),
            strides: (!placement.whole).then_some(strides),
            offset: if placement.whole { 0 } else { placement.offset },
        }
    }

    fn of_lengths(lengths: &CaseLengths) -> Self {
        let dtype = match lengths.integer {
            Integer::I8 => RETROGRADE_I8,
            Integer::U8 => RETROGRADE_U8,
            Integer::I16 => RETROGRADE_I16,
            Integer::U16 => RETROGRADE_U16,
            Integer::I32 => RETROGRADE_I32,
            Integer::U32 => RETROGRADE_U32,
            Integer::I64 => RETROGRADE_I64,
            Integer::U64 => RETROGRADE_U64,
        };
        Described { dtype, element_bytes: 0, ..Described::new(&lengths.placement) }
    }

    fn tensor(&self) -> Tensor {
        Tensor {
            struct_bytes: size_of::<Tensor>(),
            dtype: self.dtype,
            stride_unit: if self.in_bytes { RETROGRADE_STRIDE_BYTES } else { RETROGRADE_ELEMENTS },
            element_bytes: self.element_bytes,
            rank: self.shape.len(),
            shape: self.shape.as_ptr(),
            strides: self.strides.as_ref().map_or(null(), Vec::as_ptr),
            offset: self.offset,
        }
    }
}

fn element_type(width: Width) -> (ElementType, usize) {
    match width {
        Width::Bit => (RETROGRADE_U1, 0),
        Width::Crumb => (RETROGRADE_U2, 0),
        Width::Nibble => (RETROGRADE_U4, 0),
        Width::Bytes(1) => (RETROGRADE_U8, 0),
        Width::Bytes(2) => (RETROGRADE_F16, 0),
        Width::Bytes(4) => (RETROGRADE_F32, 0),
        Width::Bytes(8) => (RETROGRADE_I64, 0),
        Width::Bytes(16) => (RETROGRADE_C128, 0),
        Width::Bytes(bytes) => (RETROGRADE_BYTES, bytes),
    }
}
