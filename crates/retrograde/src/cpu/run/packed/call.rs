//! A call of the kernels for packed elements whose rows are no runs of the input.

use crate::cpu::dispatch::Isa;
use crate::cpu::lengths::LengthReader;
use crate::plan::Dim;

/// What every part of a call shares.
///
/// # Invariants
/// 1. `src` is valid for reads up to `end`, `dst` for writes over the output, and they do not overlap.
/// 2. Dimensions and origins, in elements, stay inside both.
/// 3. The last dimension has elements side by side in the output, and every row of them starts on a
///    byte there and is all that the byte in which it ends has.
/// 4. `lengths` is there if a dimension reads any, and covers its values.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) src: *const u8,
    pub(super) end: *const u8,
    pub(super) dst: *mut u8,
    pub(super) dims: &'a [Dim],
    pub(super) origins: [usize; 2],
    /// Bits in an element: 1, 2 or 4.
    pub(super) bits: usize,
    pub(super) lengths: Option<LengthReader<'a>>,
    pub(super) isa: Isa,
    pub(super) stream: bool,
    /// How many parts may run at once, and share the memory for staging buffers.
    pub(super) at_once: usize,
}

// SAFETY: threads write separate parts of the output, and only read the rest.
unsafe impl Send for Call<'_> {}
// SAFETY: as above.
unsafe impl Sync for Call<'_> {}

impl Call<'_> {
    /// Elements in a byte.
    pub(super) fn per_byte(&self) -> usize {
        8 / self.bits
    }
}
