//! Live sessions: how many use the library, and what keeps its code in memory while any does.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Providers that were created and not yet released, one for each session.
static LIVE: AtomicUsize = AtomicUsize::new(0);

/// A session that uses the library, for as long as this value lives.
#[derive(Debug)]
pub(crate) struct Live(());

impl Live {
    pub(crate) fn new() -> Self {
        LIVE.fetch_add(1, Ordering::SeqCst);
        Live(())
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// How many sessions use the library.
pub(crate) fn count() -> usize {
    LIVE.load(Ordering::SeqCst)
}

/// Keeps the library in memory until the process ends, even if it is unloaded: that
/// would leave live sessions without the code that runs and releases them.
#[cfg(unix)]
pub(crate) fn keep_loaded() {
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: `found` is for the answer, and null pointers and zeros are values of all its fields.
    // The name in it is that of a library that is loaded, the one whose code runs here, so opening
    // it again runs none of its initializers.
    unsafe {
        if libc::dladdr((&raw const LIVE).cast(), found.as_mut_ptr()) != 0 {
            let flags = libc::RTLD_NOW | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
            libc::dlopen(found.assume_init().dli_fname, flags);
        }
    }
}

/// As above.
#[cfg(windows)]
pub(crate) fn keep_loaded() {
    const PIN: u32 = 1;
    const FROM_ADDRESS: u32 = 4;
    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn GetModuleHandleExW(
            flags: u32,
            name: *const u16,
            out: *mut *mut core::ffi::c_void,
        ) -> i32;
    }
    let mut module = std::ptr::null_mut();
    // SAFETY: with `FROM_ADDRESS`, the name is any address in the library; `module` is for the
    // answer.
    unsafe { GetModuleHandleExW(PIN | FROM_ADDRESS, (&raw const LIVE).cast(), &mut module) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_counted_while_they_live() {
        assert_eq!(count(), 0);
        let two = (Live::new(), Live::new());
        assert_eq!(count(), 2);
        drop(two);
        assert_eq!(count(), 0);
    }
}
