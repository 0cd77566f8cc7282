//! Pointers of the caller: checked for null and alignment before they are dereferenced.

use crate::status::{
    Failure, RETROGRADE_BAD_ARGUMENT, RETROGRADE_BAD_HANDLE, RETROGRADE_BAD_POINTER,
};
use retrograde::{Memory, MemoryMut};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// A struct of the caller.
///
/// # Safety
/// A pointer that is neither null nor misaligned points to a `T`, which nothing changes for `'a`.
pub(crate) unsafe fn reference<'a, T>(ptr: *const T, name: &str) -> Result<&'a T, Failure> {
    checked(ptr, name)?;
    // SAFETY: not null and aligned, as just checked; a `T`, as the caller promises.
    Ok(unsafe { &*ptr })
}

/// Writes a result to where the caller wants it.
///
/// # Safety
/// A pointer that is neither null nor misaligned can be written.
pub(crate) unsafe fn write<T>(ptr: *mut T, value: T, name: &str) -> Result<(), Failure> {
    checked(ptr, name)?;
    // SAFETY: not null and aligned, as just checked; writable, as the caller promises.
    unsafe { ptr.write(value) };
    Ok(())
}

/// An array of the caller. Null is an empty array.
///
/// # Safety
/// A pointer that is neither null nor misaligned points to `len` values, which nothing changes for
/// `'a`.
pub(crate) unsafe fn slice<'a, T>(
    ptr: *const T,
    len: usize,
    name: &str,
) -> Result<&'a [T], Failure> {
    if len == 0 {
        return Ok(&[]);
    }
    checked(ptr, name)?;
    in_address_space(ptr.addr(), len, size_of::<T>(), name)?;
    // SAFETY: not null, aligned and inside the address space, as just checked; `len` values, as the
    // caller promises.
    Ok(unsafe { std::slice::from_raw_parts(ptr, len) })
}

/// A buffer that is read. Null is allowed if it has no bytes.
///
/// # Safety
/// `len` bytes from `ptr` on can be read for `'a`, and nothing writes to them meanwhile.
pub(crate) unsafe fn memory<'a>(
    ptr: *const u8,
    len: usize,
    name: &str,
) -> Result<Memory<'a>, Failure> {
    let ptr = buffer(ptr.cast_mut(), len, name)?;
    // SAFETY: passed on; not null, as just checked.
    Ok(unsafe { Memory::from_raw(ptr, len) })
}

/// A buffer that is written. Null is allowed if it has no bytes.
///
/// # Safety
/// `len` bytes from `ptr` on can be read and written for `'a`, and nothing else accesses them
/// meanwhile, except buffers of the same call, which is checked for overlap.
pub(crate) unsafe fn memory_mut<'a>(
    ptr: *mut u8,
    len: usize,
    name: &str,
) -> Result<MemoryMut<'a>, Failure> {
    let ptr = buffer(ptr, len, name)?;
    // SAFETY: passed on; not null, as just checked.
    Ok(unsafe { MemoryMut::from_raw(ptr, len, true) })
}

/// The address of a buffer, checked.
pub(crate) fn buffer(ptr: *mut u8, len: usize, name: &str) -> Result<*mut u8, Failure> {
    if len == 0 {
        return Ok(if ptr.is_null() { NonNull::dangling().as_ptr() } else { ptr });
    }
    checked(ptr, name)?;
    in_address_space(ptr.addr(), len, 1, name)?;
    Ok(ptr)
}

fn checked<T>(ptr: *const T, name: &str) -> Result<(), Failure> {
    if ptr.is_null() {
        return Err(Failure::new(RETROGRADE_BAD_POINTER, format!("{name} is a null pointer")));
    }
    if !ptr.is_aligned() {
        let (address, align) = (ptr.addr(), align_of::<T>());
        let text = format!("{name} is {address:#x}, which is not a multiple of {align}");
        return Err(Failure::new(RETROGRADE_BAD_POINTER, text));
    }
    Ok(())
}

fn in_address_space(start: usize, len: usize, width: usize, name: &str) -> Result<(), Failure> {
    let bytes = len.checked_mul(width).filter(|&bytes| isize::try_from(bytes).is_ok());
    match bytes.and_then(|bytes| start.checked_add(bytes)) {
        Some(_) => Ok(()),
        None => {
            let text = format!("{name}: {len} times {width} bytes leave the address space");
            Err(Failure::new(RETROGRADE_BAD_ARGUMENT, text))
        }
    }
}

/// The first eight bytes of every object behind a handle: its kind, or zero after it was destroyed.
#[repr(transparent)]
#[derive(Debug)]
pub(crate) struct Tag(AtomicU64);

impl Tag {
    /// The tag of a new object.
    pub(crate) const fn of<T: Tagged>() -> Self {
        Tag(AtomicU64::new(T::TAG))
    }

    /// Marks the object as destroyed. Atomic, so that it is not optimised away as a store to memory
    /// that is freed next.
    pub(crate) fn clear(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// An object behind a handle of the caller. The tag comes first, so that a handle of another kind,
/// or one that was destroyed, is most likely noticed.
///
/// # Safety
/// The type is `repr(C)` and its first field is a [`Tag`] that was made by [`Tag::of`] for it.
pub(crate) unsafe trait Tagged: Sized {
    /// The kind of object.
    const TAG: u64;
    /// Its name in messages.
    const NAME: &'static str;
}

/// The object behind a handle.
///
/// # Safety
/// A handle that is not null was returned by this library and is not destroyed for `'a`.
pub(crate) unsafe fn handle<'a, T: Tagged>(handle: *const T) -> Result<&'a T, Failure> {
    // The tag alone, before there is a reference to a `T`: an object of another kind may be smaller.
    checked(handle, T::NAME)?;
    // SAFETY: not null and aligned, as just checked; every object of this library begins with a tag.
    let tag = unsafe { reference(handle.cast::<Tag>(), T::NAME)? };
    if tag.0.load(Ordering::Relaxed) != T::TAG {
        return Err(not_a::<T>());
    }
    // SAFETY: not null and aligned, and a `T`, as its tag says.
    Ok(unsafe { &*handle })
}

/// The object behind a handle, to change it.
///
/// # Safety
/// As for [`handle`], and no other thread uses it for `'a`.
pub(crate) unsafe fn handle_mut<'a, T: Tagged>(ptr: *mut T) -> Result<&'a mut T, Failure> {
    // SAFETY: passed on.
    unsafe { handle(ptr.cast_const())? };
    // SAFETY: it is a `T`, as just checked, and this thread alone uses it, as the caller promises.
    Ok(unsafe { &mut *ptr })
}

/// Destroys the object behind a handle. Null is ignored.
///
/// # Safety
/// The handle is null or came from `Box::into_raw`, and no other thread uses it, now or later.
pub(crate) unsafe fn destroy<T: Tagged>(ptr: *mut T) -> Result<(), Failure> {
    if ptr.is_null() {
        return Ok(());
    }
    // SAFETY: as the caller promises.
    unsafe { handle(ptr.cast_const())? };
    // SAFETY: it is a `T`, as just checked, which begins with a tag.
    unsafe { &*ptr.cast::<Tag>() }.clear();
    // SAFETY: made by `Box::into_raw`, as the caller promises.
    drop(unsafe { Box::from_raw(ptr) });
    Ok(())
}

fn not_a<T: Tagged>() -> Failure {
    let text = format!("{} is not a handle of that kind, or has been destroyed", T::NAME);
    Failure::new(RETROGRADE_BAD_HANDLE, text)
}
