//! The version of the library, and of its binary interface.

use std::ffi::c_char;

/// The version of the binary interface that this header describes. It changes when a program that
/// was compiled with an older header would no longer work. New functions, status codes and fields
/// do not change it.
pub const RETROGRADE_ABI_VERSION: u32 = 1;

/// The `RETROGRADE_ABI_VERSION` of the library that is loaded. Compare it with the header's.
#[unsafe(no_mangle)]
pub extern "C" fn retrograde_abi_version() -> u32 {
    RETROGRADE_ABI_VERSION
}

/// The version of the library, such as "0.1.0". The text is constant.
#[unsafe(no_mangle)]
pub extern "C" fn retrograde_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
