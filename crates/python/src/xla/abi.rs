//! The parts of XLA's foreign function interface that a handler needs: the layout of a call in
//! memory, and how to return an error. Declared after `xla/ffi/api/c_api.h`, which jaxlib ships.
//!
//! Every struct starts with its size as known to the side that created it. Fields are only ever
//! appended, so a size of at least ours means that our fields exist.

use std::ffi::{CString, c_char, c_int, c_void};
use std::mem::offset_of;
use std::ptr::{self, NonNull};
use std::slice;

/// The version that this was written against: the oldest that XLA still supports, so that every
/// jaxlib since then does.
const VERSION: (c_int, c_int) = (0, 1);

const METADATA_EXTENSION: c_int = 1;
const STAGE_INITIALIZE: c_int = 2;
const STAGE_EXECUTE: c_int = 3;
const BUFFER: c_int = 1;
const ATTRIBUTE_ARRAY: c_int = 1;
const ATTRIBUTE_SCALAR: c_int = 3;
const ATTRIBUTE_STRING: c_int = 4;
const TYPE_S64: c_int = 5;

/// The trait of a handler that only launches the same work at every call: XLA may record and replay
/// it.
pub(crate) const COMMAND_BUFFER_COMPATIBLE: u32 = 1;

/// An error that XLA creates and frees.
pub(crate) enum ForeignError {}

/// The kind of an error; the values are XLA's.
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

/// A function in XLA's table.
type Function<A> = Option<unsafe extern "C" fn(*mut A) -> *mut ForeignError>;

/// XLA's function table. Older versions are shorter: see [`Call::function`].
#[repr(C)]
struct Api {
    struct_size: usize,
    extension: *mut Extension,
    version: ApiVersion,
    internal: *const c_void,
    create_error: Function<ErrorArguments>,
    /// Getting an error's message, freeing it, registering a handler.
    not_ours: [*const c_void; 3],
    stream: Function<StreamArguments>,
    /// Types and states of handlers, memory, threads, futures, and the run id.
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

/// Arguments or results, which have the same layout.
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

/// A call as XLA passes it to a handler.
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

/// The request that a handler receives.
pub(crate) enum Request<'a> {
    /// Nothing remains to be done.
    Nothing,
    /// Initialise, before the first call on a device and before any recording.
    Initialize(Call<'a>),
    Call(Call<'a>),
}

/// A call whose structs were checked to be large enough.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    frame: &'a CallFrame,
}

/// An error for XLA to raise.
pub(crate) enum Failure {
    Ours {
        code: Code,
        text: String,
    },
    /// An error of a function of XLA that we called.
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
    /// Answers XLA's query for version and traits, or returns the request.
    ///
    /// # Safety
    /// XLA created the frame, and it is alive for `'a`.
    pub(crate) unsafe fn request<'a>(frame: *mut CallFrame, traits: u32) -> Request<'a> {
        // SAFETY: XLA created the frame, as required. Size and extension are the first fields in
        // every version.
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
    /// Must succeed before anything else is accessed.
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

    /// The operand at this position, out of the expected number.
    pub(crate) fn argument(&self, at: usize, of: usize) -> Result<&'a Buffer, Failure> {
        // SAFETY: the frame is alive, and XLA states how many operands it has.
        unsafe { buffer(&self.frame.arguments, "arguments", at, of) }
    }

    pub(crate) fn result(&self) -> Result<&'a Buffer, Failure> {
        // SAFETY: as above.
        unsafe { buffer(&self.frame.results, "results", 0, 1) }
    }

    pub(crate) fn integer(&self, name: &str) -> Result<i64, Failure> {
        let scalar = self.attribute(name, ATTRIBUTE_SCALAR)?.cast::<Scalar>();
        // SAFETY: `attribute` checked that it is a scalar, and the type says of what.
        unsafe {
            if (*scalar).dtype != TYPE_S64 {
                return Err(Failure::internal(format!("attribute {name} is not a 64-bit integer")));
            }
            Ok((*scalar).value.cast::<i64>().read_unaligned())
        }
    }

    pub(crate) fn integers(&self, name: &str) -> Result<Vec<i64>, Failure> {
        let array = self.attribute(name, ATTRIBUTE_ARRAY)?.cast::<Array>();
        // SAFETY: `attribute` checked that it is an array; the type says of what, and `len` how
        // many.
        unsafe {
            let (dtype, len) = ((*array).dtype, (*array).len);
            if len == 0 {
                return Ok(Vec::new());
            }
            if dtype != TYPE_S64 {
                return Err(Failure::internal(format!(
                    "attribute {name} is not a list of 64-bit integers"
                )));
            }
            let data = (*array).data.cast::<i64>();
            Ok((0..len).map(|at| data.add(at).read_unaligned()).collect())
        }
    }

    pub(crate) fn text(&self, name: &str) -> Result<&'a [u8], Failure> {
        let text = self.attribute(name, ATTRIBUTE_STRING)?.cast::<Text>();
        // SAFETY: `attribute` checked that it is a string, which lives as long as the frame.
        unsafe { Ok((*text).bytes()) }
    }

    fn attribute(&self, name: &str, kind: c_int) -> Result<*mut c_void, Failure> {
        let attributes = &self.frame.attributes;
        for at in 0..usize::try_from(attributes.size).unwrap_or(0) {
            // SAFETY: XLA states that the three lists are this long, and that they outlive the
            // call.
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

    /// The device stream of the call (`CUstream`).
    pub(crate) fn stream(&self) -> Result<usize, Failure> {
        let mut arguments = StreamArguments {
            struct_size: size_of::<StreamArguments>(),
            extension: ptr::null_mut(),
            context: self.frame.context,
            stream: ptr::null_mut(),
        };
        let ask = self.function(offset_of!(Api, stream), "XLA_FFI_Stream_Get")?;
        // SAFETY: the function has this signature, and the context is the one that XLA passed.
        asked(unsafe { ask(&mut arguments) })?;
        Ok(arguments.stream.addr())
    }

    /// The number of the device.
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

    /// The function at this offset in XLA's table, if its version has one there.
    fn function<A>(
        &self,
        at: usize,
        name: &str,
    ) -> Result<unsafe extern "C" fn(*mut A) -> *mut ForeignError, Failure> {
        let api = self.frame.api;
        // SAFETY: the table outlives the call, and states its size.
        let function = unsafe {
            match api.is_null() || (*api).struct_size < at + size_of::<Function<A>>() {
                true => None,
                false => api.byte_add(at).cast::<Function<A>>().read(),
            }
        };
        function
            .ok_or_else(|| Failure::internal(format!("there is no {name}: this jaxlib is too old")))
    }

    /// Creates an error that XLA raises.
    pub(crate) fn error(&self, failure: Failure) -> *mut ForeignError {
        let (code, text) = match failure {
            Failure::Ours { code, text } => (code, text),
            Failure::Theirs(error) => return error.as_ptr(),
        };
        // A message ends at the first NUL byte.
        let message = CString::new(text.replace('\0', " ")).unwrap_or_default();
        let mut arguments = ErrorArguments {
            struct_size: offset_of!(ErrorArguments, code) + size_of::<c_int>(),
            extension: ptr::null_mut(),
            message: message.as_ptr(),
            code: code as c_int,
        };
        match self.function(offset_of!(Api, create_error), "XLA_FFI_Error_Create") {
            // SAFETY: the function has this signature, and copies the message.
            Ok(create) => unsafe { create(&mut arguments) },
            // Exists since the first version. Without it a failure would look like a result.
            Err(_) => std::process::abort(),
        }
    }
}

/// XLA's answer: success, or an error to pass on.
fn asked(error: *mut ForeignError) -> Result<(), Failure> {
    NonNull::new(error).map_or(Ok(()), |error| Err(Failure::Theirs(error)))
}

impl Text {
    /// # Safety
    /// XLA created it, and it is alive for `'a`.
    unsafe fn bytes<'a>(&self) -> &'a [u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: XLA created it, as required: it has `len` bytes, and so a start.
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
            // SAFETY: XLA states that there are as many sizes as the rank.
            Ok(rank @ 1..) => unsafe { slice::from_raw_parts(self.dims, rank) },
            _ => &[],
        }
    }
}

/// # Safety
/// XLA created the operands, and they are alive for `'a`.
unsafe fn buffer<'a>(
    operands: &Operands,
    which: &str,
    at: usize,
    of: usize,
) -> Result<&'a Buffer, Failure> {
    if operands.size != of as i64 {
        return Err(Failure::internal(format!("{which}: {} of them, not {of}", operands.size)));
    }
    // SAFETY: `at` was checked to be below the number of operands.
    let (kind, operand) = unsafe { (*operands.kinds.add(at), *operands.operands.add(at)) };
    if kind != BUFFER {
        return Err(Failure::internal(format!("{which}[{at}] is not a buffer")));
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

/// The sizes must match those in the header; otherwise calls would be misread.
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
