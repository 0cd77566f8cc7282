//! The C interface under test: the functions of `retrograde.h`, with a handle, a description and a
//! status each, as a C program calls them. Also on a CUDA device, if there is one.

use crate::backend::{Backend, Outcome, element_type};
use crate::case::{Case, CaseLengths, Operation, Rule};
use crate::oracle::indices;
use crate::placement::{Kind, Placement};
use retrograde::cpu::{Isa, Tuning};
use retrograde::{DType, LengthPolicy};
use retrograde_c::call::{
    Call, retrograde_call_destroy, retrograde_prepare, retrograde_run, retrograde_run_in_place,
};
use retrograde_c::dtype::*;
use retrograde_c::guard::{retrograde_last_error, retrograde_last_error_position};
use retrograde_c::operator::*;
use retrograde_c::status::{RETROGRADE_LENGTH_OUT_OF_RANGE, RETROGRADE_OK, Status};
use retrograde_c::tensor::{RETROGRADE_ELEMENTS, RETROGRADE_STRIDE_BYTES, Tensor};
use std::borrow::Cow;
use std::ffi::CStr;
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// The C interface on the CPU, as users get it.
#[derive(Debug)]
pub struct CInterface {
    isa: Isa,
    thorough: bool,
}

impl CInterface {
    /// With a sample of the small calls: the engine behind it runs them all.
    pub fn sampled() -> Self {
        CInterface { isa: Isa::current(), thorough: false }
    }

    /// With every small call.
    pub fn thorough() -> Self {
        CInterface { thorough: true, ..Self::sampled() }
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

    fn run(&self, case: &Case, input: Option<&[u8]>, output: &mut [u8]) -> Outcome {
        let Some(case) = with_mask_in_lengths(case) else {
            return Outcome::Unsupported("a mask of whole axes".to_owned());
        };
        let buffer = case.lengths.as_deref().map(|lengths| &lengths.buffer);
        let (lengths, bytes) = buffer.map_or((null(), 0), |of| (of.as_ptr().cast(), of.len()));
        let (dst, len) = (output.as_mut_ptr().cast(), output.len());
        // SAFETY: in both arms the call is valid, and the buffers are slices.
        with_call(&case, |call| unsafe {
            match input {
                Some(src) => {
                    retrograde_run(call, src.as_ptr().cast(), src.len(), lengths, bytes, dst, len)
                }
                None => retrograde_run_in_place(call, lengths, bytes, dst, len),
            }
        })
    }
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

/// The call with its mask where C has it: in lengths, of which those of what stays are 0, and in marked
/// offsets. `None` if there are none to hold it.
pub(crate) fn with_mask_in_lengths(case: &Case) -> Option<Cow<'_, Case>> {
    let operation = match &case.operation {
        Operation::LookUp { of, .. } => &**of,
        operation => operation,
    };
    let Operation::Where { of, mask, .. } = operation else { return Some(Cow::Borrowed(case)) };
    let lengths = match **of {
        Operation::Reverse { .. } => return None,
        Operation::Segments { .. } => Some(Arc::new(marked(case, mask))),
        _ => case.without_mask(of, mask).lengths,
    };
    Some(Cow::Owned(Case { lengths, ..case.clone() }))
}

/// The offsets of a case, each doubled, and one more where its segment is reversed.
fn marked(case: &Case, mask: &[bool]) -> CaseLengths {
    let offsets = case.lengths.as_deref().map_or(&[][..], |offsets| &offsets.values);
    // The last offset starts no segment.
    let marks = mask.iter().copied().chain([false]);
    let values = offsets.iter().zip(marks).map(|(&at, moves)| 2 * at + i64::from(moves)).collect();
    let kind = Kind::OUTPUTS[offsets.len() % Kind::OUTPUTS.len()];
    CaseLengths::new(values, &[offsets.len()], DType::I64, kind)
}

/// The operator of a case.
fn operator(case: &Case) -> Result<*mut Operator, Status> {
    let (operation, table) = match &case.operation {
        Operation::LookUp { of, table } => (&**of, &**table),
        operation => (operation, &[][..]),
    };
    // Of all masks, C knows only those of segments: see `with_mask_in_lengths`.
    let (operation, masked) = match operation {
        Operation::Where { of, .. } => (&**of, true),
        operation => (operation, false),
    };
    let kind = match operation {
        Operation::Reverse { .. } => RETROGRADE_REVERSE,
        Operation::Sequence { .. } => RETROGRADE_REVERSE_SEQUENCE,
        Operation::Subsequences { .. } => RETROGRADE_REVERSE_SUBSEQUENCES,
        Operation::Segments { .. } => RETROGRADE_REVERSE_SEGMENTS,
        Operation::Orient { .. } => RETROGRADE_ORIENT,
        Operation::Where { .. } | Operation::LookUp { .. } => {
            unreachable!("a table of a mask of another operation, and nothing else")
        }
    };
    let mut op = null_mut();
    // SAFETY: the result can be written.
    succeeded(unsafe { retrograde_operator_create(kind, &mut op) })?;
    // SAFETY: in all arms the operator is valid, and the mask has as many entries.
    let set = unsafe {
        match operation {
            Operation::Reverse { flips } => {
                let mask: Vec<u8> = flips.iter().map(|&flip| u8::from(flip)).collect();
                succeeded(retrograde_operator_set_mask(op, mask.as_ptr(), mask.len()))
            }
            Operation::Sequence { time, batch, rule } => {
                succeeded(retrograde_operator_set_time_axis(op, *time as i64))
                    .and_then(|()| succeeded(retrograde_operator_set_batch_axis(op, *batch as i64)))
                    .and_then(|()| set_rule(op, *rule))
            }
            Operation::Subsequences { axis, rule } => {
                succeeded(retrograde_operator_set_axis(op, *axis as i64))
                    .and_then(|()| set_rule(op, *rule))
            }
            Operation::Segments { axis } => {
                succeeded(retrograde_operator_set_axis(op, *axis as i64))
                    .and_then(|()| succeeded(retrograde_operator_set_marked(op, u32::from(masked))))
            }
            &Operation::Orient { exif, rows, columns } => {
                let axes = [rows as i64, columns as i64];
                succeeded(retrograde_operator_set_orientation(op, exif.into()))
                    .and_then(|()| succeeded(retrograde_operator_set_axes(op, axes.as_ptr(), 2)))
            }
            Operation::Where { .. } | Operation::LookUp { .. } => unreachable!("refused above"),
        }
    };
    // SAFETY: the operator is valid, and the table has as many entries: none is no table.
    let set = set.and_then(|()| unsafe {
        succeeded(retrograde_operator_set_table(op, table.as_ptr(), table.len()))
    });
    if set.is_err() {
        // SAFETY: made above, destroyed once.
        unsafe { retrograde_operator_destroy(op) };
    }
    set.map(|()| op)
}

fn set_rule(op: *mut Operator, Rule { policy, end, zero }: Rule) -> Result<(), Status> {
    let policy = match policy {
        LengthPolicy::Strict => RETROGRADE_STRICT,
        LengthPolicy::Clamp => RETROGRADE_CLAMP,
    };
    // SAFETY: the operator is valid.
    unsafe {
        succeeded(retrograde_operator_set_policy(op, policy))?;
        succeeded(retrograde_operator_set_align(op, u32::from(end)))?;
        succeeded(retrograde_operator_set_tail(op, u32::from(zero)))
    }
}

fn prepared(case: &Case, op: *const Operator) -> Result<*mut Call, Status> {
    let described = |tensor: &Placement| Described::new(tensor, element_type(tensor.width));
    let (input, output) = (described(&case.input), described(case.target()));
    let lengths = case.lengths.as_deref().map(|of| Described::new(&of.placement, of.dtype));
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
    fn new(placement: &Placement, dtype: DType) -> Self {
        let (dtype, element_bytes) = number_of(dtype);
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

/// The number of a type, and the bytes of one that has none.
fn number_of(dtype: DType) -> (ElementType, usize) {
    let number = match dtype {
        DType::Bytes(bytes) => return (RETROGRADE_BYTES, bytes),
        DType::U1 => RETROGRADE_U1,
        DType::U2 => RETROGRADE_U2,
        DType::U4 => RETROGRADE_U4,
        DType::I8 => RETROGRADE_I8,
        DType::U8 => RETROGRADE_U8,
        DType::I16 => RETROGRADE_I16,
        DType::U16 => RETROGRADE_U16,
        DType::I32 => RETROGRADE_I32,
        DType::U32 => RETROGRADE_U32,
        DType::I64 => RETROGRADE_I64,
        DType::U64 => RETROGRADE_U64,
        DType::F16 => RETROGRADE_F16,
        DType::F32 => RETROGRADE_F32,
        DType::C128 => RETROGRADE_C128,
        other => unreachable!("no case is of type {other}"),
    };
    (number, 0)
}
