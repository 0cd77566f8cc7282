//! Objects with counted references, of one Rust type behind all interfaces, so that every handle
//! can be checked before it is used.

use super::fault::{
    DXGI_ERROR_DEVICE_REMOVED, E_NOINTERFACE, Fault, S_FALSE, S_OK, contained, report,
};
use super::iid;
use super::types::{GUID, HRESULT};
use crate::pointer::{Tag, Tagged, handle, reference, write};
use retrograde::cpu::Program;
use retrograde_directml::Role;
use std::alloc::Layout;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Any object of the interface.
// `repr(C)`: the tag comes first, as `Tagged` promises.
#[repr(C)]
pub(crate) struct Object {
    /// Cleared by the last release.
    tag: Tag,
    /// The device that made it; `None` for devices and buffers.
    device: Option<Arc<Object>>,
    pub(crate) body: Body,
    pub(crate) name: Mutex<String>,
    pub(crate) private: Mutex<Vec<(GUID, Private)>>,
}

/// Which object it is.
pub(crate) enum Body {
    Device(Device),
    Operator(Compiled),
    Compiled(Compiled),
    Initializer(Mutex<Initializer>),
    Table(Mutex<Table>),
    Recorder,
    Buffer(Buffer),
}

/// A device.
pub(crate) struct Device {
    /// The `DML_FEATURE_LEVEL` whose rules apply.
    pub(crate) level: u32,
    /// The error that removed it.
    removed: OnceLock<(HRESULT, String)>,
}

/// Memory of the program, or memory that was allocated for it.
pub(crate) struct Buffer {
    pub(crate) start: *mut u8,
    pub(crate) len: usize,
    pub(crate) owned: Option<Layout>,
}

// SAFETY: an address. What is done with the memory behind it is up to the program, which promises
// not to use a buffer in two conflicting ways at the same time.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(layout) = self.owned {
            // SAFETY: allocated with this layout in `retrograde_dml_allocate_buffer`.
            unsafe { std::alloc::dealloc(self.start, layout) };
        }
    }
}

/// What the descriptor of a tensor asks of a bound range.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Demand {
    pub(crate) role: Role,
    pub(crate) total: u64,
    /// At least 16.
    pub(crate) alignment: u64,
    /// Bound at initialisation, and copied.
    pub(crate) owned: bool,
}

/// An operator whose descriptors satisfy every rule.
pub(crate) struct Compiled {
    pub(crate) program: Program,
    /// InputTensor and SequenceLengthsTensor.
    pub(crate) inputs: [Demand; 2],
    pub(crate) output: Demand,
    /// Copies of the inputs that it owns, since it was initialised.
    pub(crate) owned: OnceLock<[Option<Vec<u8>>; 2]>,
}

/// The operators that an initializer initialises.
pub(crate) struct Initializer {
    pub(crate) targets: Vec<Arc<Object>>,
}

/// A range of a buffer, which it keeps alive.
#[derive(Clone)]
pub(crate) struct Bound {
    pub(crate) buffer: Arc<Object>,
    pub(crate) offset: usize,
    pub(crate) len: usize,
}

impl Bound {
    /// Its first byte.
    pub(crate) fn start(&self) -> *mut u8 {
        match &self.buffer.body {
            // Bindings check that the range is inside the buffer.
            Body::Buffer(buffer) => buffer.start.wrapping_add(self.offset),
            _ => std::ptr::null_mut(),
        }
    }

    /// Its size in bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether the two have a byte in common.
    pub(crate) fn intersects(&self, other: &Bound) -> bool {
        let (one, two) = (self.start().addr(), other.start().addr());
        one < two + other.len && two < one + self.len
    }
}

/// What is bound.
#[derive(Default)]
pub(crate) struct Table {
    pub(crate) dispatchable: Option<Arc<Object>>,
    /// For each operator (an initializer has several), its two inputs.
    pub(crate) inputs: Vec<[Option<Bound>; 2]>,
    pub(crate) output: Option<Bound>,
}

/// What a program attached to an object.
pub(crate) enum Private {
    Bytes(Vec<u8>),
    Object(Arc<Object>),
}

// SAFETY: `repr(C)`, begins with a tag, and is only made with its own (`Object::new`).
unsafe impl Tagged for Object {
    const TAG: u64 = u64::from_ne_bytes(*b"rgDirect");
    const NAME: &'static str = "the object";
}

impl Drop for Object {
    fn drop(&mut self) {
        self.tag.clear();
    }
}

impl Device {
    pub(crate) fn new(level: u32) -> Self {
        Device { level, removed: OnceLock::new() }
    }

    /// Why it was removed; `S_OK` if it was not.
    pub(crate) fn reason(&self) -> HRESULT {
        self.removed.get().map_or(S_OK, |(reason, _)| *reason)
    }
}

impl Object {
    pub(crate) fn new(device: Option<Arc<Object>>, body: Body) -> Arc<Self> {
        Arc::new(Object {
            tag: Tag::of::<Object>(),
            device,
            body,
            name: Mutex::default(),
            private: Mutex::default(),
        })
    }

    /// The object behind a handle of any interface.
    ///
    /// # Safety
    /// A handle that is not null is an object of this library with a reference that is held for
    /// `'a`.
    pub(crate) unsafe fn behind<'a, T>(object: *const T) -> Result<&'a Object, Fault> {
        // SAFETY: as the caller promises.
        Ok(unsafe { handle(object.cast::<Object>())? })
    }

    /// The same, with a reference of our own.
    ///
    /// # Safety
    /// As for [`behind`](Self::behind).
    pub(crate) unsafe fn shared<T>(object: *const T) -> Result<Arc<Object>, Fault> {
        // SAFETY: as the caller promises.
        unsafe { Self::behind(object)? };
        let object = object.cast::<Object>();
        // SAFETY: handles are made by `Arc::into_raw`, and the caller holds a reference.
        unsafe {
            Arc::increment_strong_count(object);
            Ok(Arc::from_raw(object))
        }
    }

    /// The device that it belongs to, or is.
    fn device(&self) -> Option<&Device> {
        match (&self.body, &self.device) {
            (Body::Device(device), _) => Some(device),
            (_, Some(parent)) => parent.device(),
            _ => None,
        }
    }

    /// The device that made it.
    pub(crate) fn parent(&self) -> Option<&Arc<Object>> {
        self.device.as_ref()
    }

    /// The binding table that it is.
    pub(crate) fn table(&self) -> Result<&Mutex<Table>, Fault> {
        match &self.body {
            Body::Table(table) => Ok(table),
            _ => Err(Fault::invalid("the object is not a binding table")),
        }
    }

    /// Fails if its device was removed.
    pub(crate) fn alive(&self) -> Result<(), Fault> {
        match self.device().and_then(|device| device.removed.get()) {
            None => Ok(()),
            Some((_, text)) => {
                let text = format!("the device was removed by an earlier error: {text}");
                Err(Fault::new(DXGI_ERROR_DEVICE_REMOVED, text))
            }
        }
    }

    /// Runs the body of a method that returns nothing: an error removes the device.
    pub(crate) fn or_removed(&self, body: impl FnOnce() -> Result<(), Fault>) {
        if let Err(fault) = self.alive().and_then(|()| contained(body)) {
            let name = locked(&self.name).clone();
            let text = match name.is_empty() {
                true => fault.text,
                false => format!("{name}: {}", fault.text),
            };
            if let Some(device) = self.device() {
                // The first error is kept.
                let _ = device.removed.set((fault.code, text.clone()));
            }
            report(Fault { code: fault.code, text });
        }
    }

    /// Whether it has an interface.
    fn implements(&self, interface: &GUID) -> bool {
        let own: &[GUID] = match &self.body {
            Body::Device(_) => &[iid::OBJECT, iid::DEVICE],
            Body::Operator(_) => &[iid::OBJECT, iid::DEVICE_CHILD, iid::OPERATOR],
            Body::Compiled(_) => &[
                iid::OBJECT,
                iid::DEVICE_CHILD,
                iid::PAGEABLE,
                iid::DISPATCHABLE,
                iid::COMPILED_OPERATOR,
            ],
            Body::Initializer(_) => &[
                iid::OBJECT,
                iid::DEVICE_CHILD,
                iid::PAGEABLE,
                iid::DISPATCHABLE,
                iid::OPERATOR_INITIALIZER,
            ],
            Body::Table(_) => &[iid::OBJECT, iid::DEVICE_CHILD, iid::BINDING_TABLE],
            Body::Recorder => &[iid::OBJECT, iid::DEVICE_CHILD, iid::COMMAND_RECORDER],
            Body::Buffer(_) => &[iid::RESOURCE],
        };
        *interface == iid::UNKNOWN || own.contains(interface)
    }

    /// Whether it can be evicted and made resident.
    pub(crate) fn is_pageable(&self) -> bool {
        self.implements(&iid::PAGEABLE)
    }

    /// Hands a new object to the program. Without a place to put it, the arguments were checked and
    /// that is all.
    ///
    /// # Safety
    /// `riid` is null or an identifier; `ppv` is null or can be written.
    pub(crate) unsafe fn give(
        self: Arc<Self>,
        riid: *const GUID,
        ppv: *mut *mut c_void,
    ) -> Result<HRESULT, Fault> {
        // SAFETY: as the caller promises.
        let interface = unsafe { reference(riid, "riid")? };
        if !self.implements(interface) {
            let text = format!("the object does not have the interface {interface:x?}");
            return Err(Fault::new(E_NOINTERFACE, text));
        }
        if ppv.is_null() {
            return Ok(S_FALSE);
        }
        // SAFETY: as the caller promises.
        unsafe { write(ppv, Arc::into_raw(self).cast_mut().cast(), "ppv")? };
        Ok(S_OK)
    }
}

/// A lock whose poison is ignored: each write under it is complete.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes null to a result, so that it is defined if the method fails.
///
/// # Safety
/// `ppv` is null or can be written.
pub(crate) unsafe fn clear(ppv: *mut *mut c_void) -> Result<(), Fault> {
    if !ppv.is_null() {
        // SAFETY: as the caller promises.
        unsafe { write(ppv, std::ptr::null_mut(), "ppv")? };
    }
    Ok(())
}
