//! The parts of XLA's foreign function interface that a handler needs: what a call looks like in
//! memory, and how an error is made. Declared after `xla/ffi/api/c_api.h`, which jaxlib ships.
//!
//! Every structure starts with its size, as the side that made it knows it: fields are only ever
//! added behind, so a size at least ours means that ours are there.

use std::ffi::{CString, c_char, c_int, c_void};
use std::mem::offset_of;
use std::ptr::{self, NonNull};
use std::slice;

/// The version this was written against: the oldest that XLA still takes, so that every jaxlib
/// from there on does.
const VERSION: (c_int, c_int) = (0, 1);

const METADATA_EXTENSION: c_int = 1;
const STAGE_INITIALIZE: c_int = 2;
const STAGE_EXECUTE: c_int = 3;
const BUFFER: c_int = 1;
const ATTRIBUTE_ARRAY: c_int = 1;
const ATTRIBUTE_SCALAR: c_int = 3;
const ATTRIBUTE_STRING: c_int = 4;
const TYPE_S64: c_int = 5;

/// The trait of a handler that launches the same work at every call and does nothing else: XLA may
/// record it, and replay that.
pub(crate) const COMMAND_BUFFER_COMPATIBLE: u32 = 1;

/// An error, as XLA makes and frees it.
pub(crate) enum ForeignError {}

/// What kind of error it is; the values are XLA's.
#[derive(Clone, Copy)]
pub(crate) enum Code {
    InvalidArgument = 3,
    Internal = 13,
}

#[repr(C)]
struct Extension {
    struct_size: usize,
    kind: c_int,
    next: *mut Extension,
}

#[repr(C)]
struct ApiVersion {
    struct_size: usize,
    extension: *mut Extension,
    major: c_int,
    minor: c_int,
}

#[repr(C)]
struct Metadata {
    struct_size: usize,
    version: ApiVersion,
    traits: u32,
}

#[repr(C)]
struct MetadataExtension {
    base: Extension,
    metadata: *mut Metadata,
}

#[repr(C)]
struct ErrorArguments {
    struct_size: usize,
    extension: *mut Extension,
    message: *const c_char,
    code: c_int,
}

#[repr(C)]
struct StreamArguments {
    struct_size: usize,
    extension: *mut Extension,
    context: *mut c_void,
    stream: *mut c_void,
}

#[repr(C)]
struct DeviceArguments {
    struct_size: usize,
    extension: *mut Extension,
    context: *mut c_void,
    ordinal: i32,
}

/// A function of XLA's table.
type Function<A> = Option<unsafe extern "C" fn(*mut A) -> *mut ForeignError>;

/// XLA's table. Older ones end earlier: see [`Call::function`].
#[repr(C)]
struct Api {
    struct_size: usize,
    extension: *mut Extension,
    version: ApiVersion,
    internal: *const c_void,
    create_error: Function<ErrorArguments>,
    /// What an error says, freeing it, registering a handler.
    not_ours: [*const c_void; 3],
    stream: Function<StreamArguments>,
    /// Types and states of handlers, memory, threads, futures, and the number of the run.
    not_ours_either: [*const c_void; 12],
    device: Function<DeviceArguments>,
}

/// A dense row-major tensor.
#[repr(C)]
pub(crate) struct Buffer {
    struct_size: usize,
    extension: *mut Extension,
    dtype: c_int,
    data: *mut c_void,
    rank: i64,
    dims: *mut i64,
}

/// Arguments, and results too: they look the same.
#[repr(C)]
struct Operands {
    struct_size: usize,
    extension: *mut Extension,
    size: i64,
    kinds: *mut c_int,
    operands: *mut *mut c_void,
}

#[repr(C)]
struct Text {
    start: *const c_char,
    len: usize,
}

#[repr(C)]
struct Scalar {
    dtype: c_int,
    value: *const c_void,
}

#[repr(C)]
struct Array {
    dtype: c_int,
    len: usize,
    data: *const c_void,
}

#[repr(C)]
struct Attributes {
    struct_size: usize,
    extension: *mut Extension,
    size: i64,
    kinds: *mut c_int,
    names: *mut *mut Text,
    values: *mut *mut c_void,
}

/// A call, as XLA hands it to a handler.
#[repr(C)]
pub(crate) struct CallFrame {
    struct_size: usize,
    extension: *mut Extension,
    api: *const Api,
    context: *mut c_void,
    stage: c_int,
    arguments: Operands,
    results: Operands,
    attributes: Attributes,
}

/// What a handler is asked for.
pub(crate) enum Request<'a> {
    /// Nothing that is left to do.
    Nothing,
    /// To get ready, before the first call on a device and before any recording.
    Initialize(Call<'a>),
    Call(Call<'a>),
}

/// A call whose structures were found to be large enough.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    frame: &'a CallFrame,
}

/// What went wrong, for XLA to raise.
pub(crate) enum Failure {
    Ours {
        code: Code,
        text: String,
    },
    /// Something that we asked XLA for.
    Theirs(NonNull<ForeignError>),
}

impl Failure {
    pub(crate) fn argument(text: impl ToString) -> Self {
        Failure::Ours { code: Code::InvalidArgument, text: text.to_string() }
    }

    pub(crate) fn internal(text: impl ToString) -> Self {
        Failure::Ours { code: Code::Internal, text: text.to_string() }
    }
}

impl CallFrame {
    /// Answers XLA's question for the version and traits, or says what is to be done.
    ///
    /// # Safety
    /// XLA made the frame, and it is alive for `'a`.
    pub(crate) unsafe fn request<'a>(frame: *mut CallFrame, traits: u32) -> Request<'a> {
        // SAFETY: the caller's promise. Size and extension come first in every version.
        unsafe {
            let extension = (*frame).extension;
            if !extension.is_null() && (*extension).kind == METADATA_EXTENSION {
                let metadata = (*extension.cast::<MetadataExtension>()).metadata;
                (*metadata).version.major = VERSION.0;
                (*metadata).version.minor = VERSION.1;
                (*metadata).traits = traits;
                return Request::Nothing;
            }
            let frame = &*frame;
            match frame.stage {
                STAGE_INITIALIZE => Request::Initialize(Call { frame }),
                STAGE_EXECUTE => Request::Call(Call { frame }),
                _ => Request::Nothing,
            }
        }
    }
}

impl<'a> Call<'a> {
    /// Looks at nothing else before this has passed.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let frame = self.frame;
        let sizes = [
            ("XLA_FFI_CallFrame", frame.struct_size, size_of::<CallFrame>()),
            ("XLA_FFI_Args", frame.arguments.struct_size, size_of::<Operands>()),
            ("XLA_FFI_Rets", frame.results.struct_size, size_of::<Operands>()),
            ("XLA_FFI_Attrs", frame.attributes.struct_size, size_of::<Attributes>()),
        ];
        for (name, got, expected) in sizes {
            large_enough(name, got, expected)?;
        }
        Ok(())
    }

    /// The operand at this position, of as many as there should be.
    pub(crate) fn argument(&self, at: usize, of: usize) -> Result<&'a Buffer, Failure> {
        // SAFETY: the frame is alive, and XLA says how many operands it has.
        unsafe { buffer(&self.frame.arguments, "arguments", at, of) }
    }

    pub(crate) fn result(&self) -> Result<&'a Buffer, Failure> {
        // SAFETY: as above.
        unsafe { buffer(&self.frame.results, "results", 0, 1) }
    }

    pub(crate) fn integer(&self, name: &str) -> Result<i64, Failure> {
        let scalar = self.attribute(name, ATTRIBUTE_SCALAR)?.cast::<Scalar>();
        // SAFETY: `attribute` found that it is a scalar, and the type says of what.
        unsafe {
            if (*scalar).dtype != TYPE_S64 {
                return Err(Failure::internal(format!("attribute {name} is no 64-bit integer")));
            }
            Ok((*scalar).value.cast::<i64>().read_unaligned())
        }
    }

    pub(crate) fn integers(&self, name: &str) -> Result<Vec<i64>, Failure> {
        let array = self.attribute(name, ATTRIBUTE_ARRAY)?.cast::<Array>();
        // SAFETY: `attribute` found that it is an array; the type says of what, `len` how many.
        unsafe {
            let (dtype, len) = ((*array).dtype, (*array).len);
            if len == 0 {
                return Ok(Vec::new());
            }
            if dtype != TYPE_S64 {
                return Err(Failure::internal(format!("attribute {name} has no 64-bit integers")));
            }
            let data = (*array).data.cast::<i64>();
            Ok((0..len).map(|at| data.add(at).read_unaligned()).collect())
        }
    }

    pub(crate) fn text(&self, name: &str) -> Result<&'a [u8], Failure> {
        let text = self.attribute(name, ATTRIBUTE_STRING)?.cast::<Text>();
        // SAFETY: `attribute` found that it is a string, which lives as long as the frame.
        unsafe { Ok((*text).bytes()) }
    }

    fn attribute(&self, name: &str, kind: c_int) -> Result<*mut c_void, Failure> {
        let attributes = &self.frame.attributes;
        for at in 0..usize::try_from(attributes.size).unwrap_or(0) {
            // SAFETY: XLA says that the three lists are this long, and that they outlive the call.
            let (found, its_kind, value) = unsafe {
                let found = (**attributes.names.add(at)).bytes();
                (found, *attributes.kinds.add(at), *attributes.values.add(at))
            };
            if found == name.as_bytes() && its_kind == kind {
                return Ok(value);
            }
        }
        Err(Failure::internal(format!("attribute {name} is missing, or of another type")))
    }

    /// The stream of a device that the call belongs to (`CUstream`).
    pub(crate) fn stream(&self) -> Result<usize, Failure> {
        let mut arguments = StreamArguments {
            struct_size: size_of::<StreamArguments>(),
            extension: ptr::null_mut(),
            context: self.frame.context,
            stream: ptr::null_mut(),
        };
        let ask = self.function(offset_of!(Api, stream), "XLA_FFI_Stream_Get")?;
        // SAFETY: it is this function, and the context is the one that it gave us.
        asked(unsafe { ask(&mut arguments) })?;
        Ok(arguments.stream.addr())
    }

    /// The number of that device.
    pub(crate) fn device(&self) -> Result<usize, Failure> {
        let mut arguments = DeviceArguments {
            struct_size: offset_of!(DeviceArguments, ordinal) + size_of::<i32>(),
            extension: ptr::null_mut(),
            context: self.frame.context,
            ordinal: -1,
        };
        let ask = self.function(offset_of!(Api, device), "XLA_FFI_DeviceOrdinal_Get")?;
        // SAFETY: as above.
        asked(unsafe { ask(&mut arguments) })?;
        let ordinal = arguments.ordinal;
        usize::try_from(ordinal).map_err(|_| Failure::internal(format!("the device is {ordinal}")))
    }

    /// The function at this place of XLA's table, if its version has one there.
    fn function<A>(
        &self,
        at: usize,
        name: &str,
    ) -> Result<unsafe extern "C" fn(*mut A) -> *mut ForeignError, Failure> {
        let api = self.frame.api;
        // SAFETY: the table outlives the call, and says how far it goes.
        let function = unsafe {
            match api.is_null() || (*api).struct_size < at + size_of::<Function<A>>() {
                true => None,
                false => api.byte_add(at).cast::<Function<A>>().read(),
            }
        };
        function
            .ok_or_else(|| Failure::internal(format!("there is no {name}: this jaxlib is too old")))
    }

    /// Makes an error that XLA raises.
    pub(crate) fn error(&self, failure: Failure) -> *mut ForeignError {
        let (code, text) = match failure {
            Failure::Ours { code, text } => (code, text),
            Failure::Theirs(error) => return error.as_ptr(),
        };
        // A message ends at the first zero byte.
        let message = CString::new(text.replace('\0', " ")).unwrap_or_default();
        let mut arguments = ErrorArguments {
            struct_size: offset_of!(ErrorArguments, code) + size_of::<c_int>(),
            extension: ptr::null_mut(),
            message: message.as_ptr(),
            code: code as c_int,
        };
        match self.function(offset_of!(Api, create_error), "XLA_FFI_Error_Create") {
            // SAFETY: it is this function, which copies the message.
            Ok(create) => unsafe { create(&mut arguments) },
            // There since the first version. Without it a failure would look like a result.
            Err(_) => std::process::abort(),
        }
    }
}

/// What XLA answered: nothing, or an error that is ours to pass on.
fn asked(error: *mut ForeignError) -> Result<(), Failure> {
    NonNull::new(error).map_or(Ok(()), |error| Err(Failure::Theirs(error)))
}

impl Text {
    /// # Safety
    /// XLA made it, and it is alive for `'a`.
    unsafe fn bytes<'a>(&self) -> &'a [u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: the caller's promise; it is not empty, so there is a start.
        unsafe { slice::from_raw_parts(self.start.cast(), self.len) }
    }
}

impl Buffer {
    pub(crate) fn dtype(&self) -> i32 {
        self.dtype
    }

    pub(crate) fn data(&self) -> *mut u8 {
        self.data.cast()
    }

    pub(crate) fn dims(&self) -> &[i64] {
        match usize::try_from(self.rank) {
            // SAFETY: XLA says that there are as many sizes as the rank.
            Ok(rank @ 1..) => unsafe { slice::from_raw_parts(self.dims, rank) },
            _ => &[],
        }
    }
}

/// # Safety
/// XLA made the operands, and they are alive for `'a`.
unsafe fn buffer<'a>(
    operands: &Operands,
    which: &str,
    at: usize,
    of: usize,
) -> Result<&'a Buffer, Failure> {
    if operands.size != of as i64 {
        return Err(Failure::internal(format!("{which}: {} of them, not {of}", operands.size)));
    }
    // SAFETY: `at` is below the number of operands, which was checked.
    let (kind, operand) = unsafe { (*operands.kinds.add(at), *operands.operands.add(at)) };
    if kind != BUFFER {
        return Err(Failure::internal(format!("{which}[{at}] is no buffer")));
    }
    // SAFETY: it is a buffer.
    let buffer: &Buffer = unsafe { &*operand.cast() };
    large_enough("XLA_FFI_Buffer", buffer.struct_size, size_of::<Buffer>())?;
    Ok(buffer)
}

fn large_enough(name: &str, got: usize, expected: usize) -> Result<(), Failure> {
    if got < expected {
        return Err(Failure::internal(format!(
            "{name} has {got} bytes, expected {expected}: this jaxlib is too old"
        )));
    }
    Ok(())
}

/// A function that XLA can call.
pub(crate) type Handler = unsafe extern "C" fn(*mut CallFrame) -> *mut ForeignError;

/// Calls with structures of other sizes than the header has would be read wrongly.
const _: () = {
    assert!(size_of::<Buffer>() == 48);
    assert!(size_of::<Operands>() == 40);
    assert!(size_of::<Attributes>() == 48);
    assert!(size_of::<CallFrame>() == 40 + 40 + 40 + 48);
    assert!(size_of::<StreamArguments>() == 32);
    assert!(offset_of!(DeviceArguments, ordinal) == 24);
    assert!(offset_of!(Api, create_error) == 48);
    assert!(offset_of!(Api, stream) == 80);
    assert!(offset_of!(Api, device) == 184);
};
