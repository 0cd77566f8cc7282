//! Tensors of strings. The runtime gives access to their bytes only through functions, so the plan
//! moves positions, and the strings are read and written in one call each.

use crate::ffi::OrtValue;
use crate::runtime::{Failure, Runtime};
use std::ffi::c_char;
use std::ptr;

/// Copies strings: the output's `i`-th is the input's `order[i]`-th.
///
/// # Safety
/// Both are tensors of strings, not the same one. The input has `count` strings, and the output as
/// many as `order`, which are positions of the input.
pub(crate) unsafe fn copy(
    runtime: &Runtime,
    from: *const OrtValue,
    count: usize,
    to: *mut OrtValue,
    order: &[u64],
) -> Result<(), Failure> {
    if order.is_empty() {
        return Ok(());
    }
    // SAFETY: the input has `count` strings, as required.
    let strings = unsafe { Strings::read(runtime, from, count)? };
    let list: Vec<*const c_char> =
        order.iter().map(|&at| strings.terminated(at as usize)).collect();
    // SAFETY: the output has as many strings as the list, each of which ends with a zero byte.
    runtime.check(unsafe { runtime.api.fill_strings(to, list.as_ptr(), list.len()) })?;
    if !strings.has_zeros {
        return Ok(());
    }
    // The runtime has taken these only up to their first zero byte.
    for (at, &from) in order.iter().enumerate() {
        let string = strings.get(from as usize);
        if string.contains(&0) {
            let mut buffer = ptr::null_mut();
            // SAFETY: a string of the output; the buffer has room for as many bytes as requested.
            unsafe {
                runtime.check(runtime.api.resized_string(to, at, string.len(), &mut buffer))?;
                ptr::copy_nonoverlapping(string.as_ptr(), buffer.cast(), string.len());
            }
        }
    }
    Ok(())
}

/// The strings of a tensor, each followed by a zero byte.
struct Strings {
    bytes: Vec<u8>,
    /// Where each string starts, and where one behind the last would.
    starts: Vec<usize>,
    /// Whether any string has a zero byte of its own.
    has_zeros: bool,
}

impl Strings {
    /// # Safety
    /// The value is a tensor of `count` strings.
    unsafe fn read(
        runtime: &Runtime,
        value: *const OrtValue,
        count: usize,
    ) -> Result<Self, Failure> {
        let mut len = 0;
        let mut starts = vec![0usize; count];
        // SAFETY: as required; the content has `len` bytes and `count` starts.
        let content = unsafe {
            runtime.check(runtime.api.strings_length(value, &mut len))?;
            let mut content = vec![0u8; len];
            let (data, offsets) = (content.as_mut_ptr().cast(), starts.as_mut_ptr());
            runtime.check(runtime.api.strings_content(value, data, len, offsets, count))?;
            content
        };
        Ok(Self::terminate(&content, starts))
    }

    /// Puts a zero byte behind each string.
    fn terminate(content: &[u8], mut starts: Vec<usize>) -> Self {
        let mut bytes = Vec::with_capacity(content.len() + starts.len());
        for at in 0..starts.len() {
            let end = starts.get(at + 1).copied().unwrap_or(content.len());
            let string = content.get(starts[at]..end).unwrap_or_default();
            starts[at] = bytes.len();
            bytes.extend_from_slice(string);
            bytes.push(0);
        }
        starts.push(bytes.len());
        Strings { bytes, starts, has_zeros: content.contains(&0) }
    }

    /// The address of a string, which a zero byte follows.
    fn terminated(&self, at: usize) -> *const c_char {
        self.bytes[self.starts[at]..].as_ptr().cast()
    }

    /// A string without the zero byte that follows.
    fn get(&self, at: usize) -> &[u8] {
        &self.bytes[self.starts[at]..self.starts[at + 1] - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_keep_their_bytes_and_end_with_zeros() {
        let strings = Strings::terminate(b"ab\0cd", vec![0, 2, 2, 4]);
        let all: Vec<&[u8]> = (0..4).map(|at| strings.get(at)).collect();
        assert_eq!(all, [&b"ab"[..], b"", b"\0c", b"d"]);
        assert!(strings.has_zeros);
        for (at, string) in all.iter().enumerate() {
            let start = strings.starts[at];
            assert_eq!(strings.terminated(at), strings.bytes[start..].as_ptr().cast());
            assert_eq!(strings.bytes[start + string.len()], 0);
        }
        assert!(!Strings::terminate(b"", vec![0, 0]).has_zeros);
    }
}
