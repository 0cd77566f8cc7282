//! Packed elements whose rows are no runs of the input: a length for each column, and transposed
//! inputs.
//!
//! Both have kernels that write rows which start on bytes. If the output's rows do not, they are first
//! written to a buffer where they do. Whatever has no kernel is spread to bytes, or moved
//! element by element.

mod columns;
mod planes;
mod spread;

use super::dispatch::Isa;
use super::lengths::LengthReader;
use super::nest::{Dims, Nest};
use super::packed;
use super::schedule::{Cut, Team, Window, tuning};
use crate::fresh;
use crate::plan::{Dim, Flow, Plan};

/// The most bytes of a buffer for rows that do not start on bytes.
const MOST_BUFFERED: usize = 64 << 20;

/// What every part of a call shares.
///
/// # Invariants
/// 1. `src` is valid for reads up to `end`, `dst` for writes over the output, and they do not overlap.
/// 2. Dimensions and origins, in elements, stay inside both.
/// 3. The last dimension has elements side by side in the output, and every row of them starts on a
///    byte there and is all that the byte in which it ends has.
/// 4. `lengths` is there if a dimension reads any, and covers its values.
#[derive(Clone, Copy)]
struct Call<'a> {
    src: *const u8,
    end: *const u8,
    dst: *mut u8,
    dims: &'a [Dim],
    origins: [usize; 2],
    /// Bits in an element: 1, 2 or 4.
    bits: usize,
    lengths: Option<LengthReader<'a>>,
    isa: Isa,
    stream: bool,
    /// How many parts may run at once, and share the memory for staging buffers.
    at_once: usize,
}

// SAFETY: threads write separate parts of the output, and only read the rest.
unsafe impl Send for Call<'_> {}
// SAFETY: as above.
unsafe impl Sync for Call<'_> {}

impl Call<'_> {
    /// Elements in a byte.
    fn elements(&self) -> usize {
        8 / self.bits
    }

    /// The loops of a part.
    fn nest(&self, window: Window) -> Nest {
        Nest::of(self.dims, window, self.lengths.map_or(0, |lengths| lengths.origin()))
    }

    /// Runs it in parts.
    ///
    /// # Safety
    /// The invariants.
    unsafe fn run(&self, team: &Team<'_>) {
        let elements = self.dims.iter().map(|dim| dim.len).product::<usize>();
        let may_cut = |dim: &Dim| dim.flow != Flow::FlipPrefix;
        let parts = team.parts(elements);
        let cut = Cut::new(self.dims, self.origins[1], self.elements(), parts, may_cut);
        team.run(cut.parts(), |part| {
            let window = cut.window(part);
            // SAFETY: the invariants; parts have no byte of the output in common.
            unsafe {
                let done = columns::run(self, window) || planes::run(self, window);
                if !done {
                    let Call { bits, dims, origins, src, dst, lengths, .. } = *self;
                    let elements = packed::Elements { bits, dims, origins, seals: true };
                    packed::copy_window(elements, src, dst, lengths, window);
                }
            }
            if self.stream {
                self.isa.fence();
            }
        });
    }
}

/// The loops of a whole plan, which has dimensions.
fn whole_nest(dims: &[Dim]) -> Nest {
    Nest::of(dims, Window { dim: 0, start: 0, end: dims[0].len }, 0)
}

/// Whether a plan is for one of the kernels.
fn has_kernel(plan: &Plan) -> bool {
    let (dims, elements) = (plan.dims(), plan.unit().grain.per_byte());
    let known = plan.seals_last_byte() && plan.unit().count == 1;
    if !known || dims.last().is_none_or(|row| row.dst != 1) {
        return false;
    }
    let nest = whole_nest(dims);
    columns::has_kernel(&nest, elements) || planes::has_kernel(&nest, elements)
}

/// Runs a plan of packed elements out of place, in whichever way is faster.
///
/// # Safety
/// As for [`packed::copy`].
pub(super) unsafe fn copy_packed(
    plan: &Plan,
    src: *const u8,
    dst: *mut u8,
    lengths: Option<LengthReader<'_>>,
) {
    // SAFETY: passed on.
    unsafe {
        let done = has_kernel(plan) && by_kernel(plan, src, dst, lengths)
            || spread::applies(plan) && spread::run(plan, src, dst, lengths);
        if !done {
            packed::copy(plan, src, dst, lengths);
        }
    }
}

/// Runs a plan that has a kernel. False, and nothing has happened, if there is no room for it.
///
/// # Safety
/// As for [`packed::copy`].
unsafe fn by_kernel(
    plan: &Plan,
    src: *const u8,
    dst: *mut u8,
    lengths: Option<LengthReader<'_>>,
) -> bool {
    let (bits, elements) = (plan.unit().grain.bits(), plan.unit().grain.per_byte());
    let bytes = plan.units() / elements;
    // Elements cost as much as bytes do elsewhere.
    let team = Team::new(plan.units());
    if !columns::has_room(&whole_nest(plan.dims()), elements, team.threads()) {
        return false;
    }
    let mut call = Call {
        src,
        end: src.wrapping_add(plan.src().end.div_ceil(elements)),
        dst,
        dims: plan.dims(),
        origins: [plan.src().origin, plan.dst().origin],
        bits,
        lengths,
        isa: Isa::current(),
        stream: tuning::streams_strips(bytes),
        at_once: team.threads(),
    };
    let on_bytes = |at: isize| at % elements as isize == 0;
    let (row, outer) = plan.dims().split_last().map_or((1, &[][..]), |(row, rest)| (row.len, rest));
    let rows_on_bytes = outer.iter().all(|dim| on_bytes(dim.dst))
        && on_bytes(plan.dst().origin as isize)
        && on_bytes(row as isize);
    // SAFETY: the contract of this function has the invariants but for the third, which has just been
    // checked, or holds for the buffer.
    unsafe {
        if rows_on_bytes {
            call.run(&team);
            return true;
        }
        let (apart, kept, origins) = in_rows(plan.dims(), elements);
        let size = apart.iter().fold(1, |size, dim| size.max(dim.len * dim.dst as usize));
        let size = size.div_ceil(elements);
        if size > MOST_BUFFERED {
            return false;
        }
        let Some(mut buffer) = fresh::try_bytes(size) else { return false };
        call.dims = &apart;
        call.origins[1] = 0;
        call.dst = buffer.as_mut_ptr();
        call.stream = false;
        call.run(&team);
        let rows = packed::Elements {
            bits,
            dims: &kept,
            origins: [origins[0], plan.dst().origin - origins[1]],
            seals: plan.seals_last_byte(),
        };
        packed::copy_elements(rows, buffer.as_ptr(), dst, None);
        true
    }
}

/// Dimensions into a buffer in which each row starts on a byte, and those from there to the output, which
/// go forward in it: steps that are counted from the end (`Align::End`) go backward. Last, the
/// first element of the second in the buffer, and how far it is in front of the first element of all in
/// the output.
fn in_rows(dims: &[Dim], elements: usize) -> (Dims, Dims, [usize; 2]) {
    let (mut to, mut from): (Dims, Dims) = (dims.into(), dims.into());
    let (mut step, mut origins) = (1, [0, 0]);
    for (to, from) in to.iter_mut().zip(&mut from).rev() {
        to.dst = step as isize;
        *from = Dim { src: to.dst, flow: Flow::Keep, lengths: 0, ..*from };
        if from.dst < 0 {
            let last = from.len.saturating_sub(1);
            origins[0] += last * step;
            origins[1] += last * from.dst.unsigned_abs();
            (from.src, from.dst) = (-from.src, -from.dst);
        }
        step = (step * to.len).next_multiple_of(elements);
    }
    (to, from, origins)
}
