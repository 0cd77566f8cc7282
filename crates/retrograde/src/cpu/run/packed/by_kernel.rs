//! Packed elements whose rows are no runs of the input: a length for each column, and transposed
//! inputs. Their kernels write rows that start on bytes.

use super::call::Call;
use super::rows::Rows;
use super::{columns, tiles};
use crate::cpu::dispatch::Isa;
use crate::cpu::lengths::LengthReader;
use crate::cpu::nest::Nest;
use crate::cpu::program::{Buffered, Packed, PackedKernel, column_room};
use crate::cpu::schedule::{Cut, Team, Window, tuning};
use crate::fresh;
use crate::plan::{Dim, Flow};

impl Call<'_> {
    /// Runs it in parts.
    ///
    /// # Safety
    /// The invariants.
    unsafe fn run(&self, kernel: PackedKernel, team: &Team<'_>) {
        let elements = self.dims.iter().map(|dim| dim.len).product::<usize>();
        let may_cut = |dim: &Dim| dim.flow != Flow::FlipPrefix;
        let parts = team.parts(elements);
        let cut = Cut::new(self.dims, self.origins[1], self.per_byte(), parts, may_cut);
        team.run(cut.parts(), |part| {
            // SAFETY: the invariants; parts have no byte of the output in common.
            unsafe { self.part(kernel, cut.window(part)) };
            if self.stream {
                self.isa.fence();
            }
        });
    }

    /// # Safety
    /// The invariants; no other thread writes to the window.
    unsafe fn part(&self, kernel: PackedKernel, window: Window) {
        let nest = Nest::of(self.dims, window, self.lengths.map_or(0, |lengths| lengths.origin()));
        // SAFETY: passed on.
        let done = unsafe {
            match kernel {
                PackedKernel::Columns { .. } => columns::run(self, &nest),
                PackedKernel::Tiles { across } => tiles::run(self, &nest, across),
            }
        };
        if done {
            return;
        }
        // There is no memory to stage it, or it is the last part, and too narrow.
        let Call { src, dst, bits, origins, dims, lengths, isa, .. } = *self;
        let (seals, short, stream) = (true, false, false);
        let rows = Rows { src, dst, bits, origins, dims, lengths, seals, short, stream, isa };
        // SAFETY: passed on.
        unsafe { rows.copy(window) };
    }
}

/// The call on memory, and its threads. `None` if columns are too long to be staged on that many.
fn call<'a>(
    packed: &Packed,
    dims: &'a [Dim],
    kernel: PackedKernel,
    src: *const u8,
    dst: *mut u8,
    lengths: Option<LengthReader<'a>>,
) -> Option<(Call<'a>, Team<'a>)> {
    let Packed { bits, elements, origins, end, .. } = *packed;
    let per_byte = packed.per_byte();
    // Elements cost as much as bytes do elsewhere.
    let team = Team::new(elements);
    let at_once = team.threads();
    if let PackedKernel::Columns { len } = kernel {
        column_room(len, 1, per_byte, at_once)?;
    }
    let (isa, end) = (Isa::current(), src.wrapping_add(end.div_ceil(per_byte)));
    let stream = tuning::streams_strips(packed.hint, elements / per_byte);
    Some((Call { src, end, dst, dims, origins, bits, lengths, isa, stream, at_once }, team))
}

/// Runs a kernel whose rows start on bytes of the output. False, and nothing has happened, if there is no
/// room for it.
///
/// # Safety
/// As for [`run`](super::run).
pub(super) unsafe fn run(
    packed: &Packed,
    dims: &[Dim],
    kernel: PackedKernel,
    src: *const u8,
    dst: *mut u8,
    lengths: Option<LengthReader<'_>>,
) -> bool {
    let Some((call, team)) = call(packed, dims, kernel, src, dst, lengths) else { return false };
    // SAFETY: the contract of this function has the invariants; the program found that rows start on
    // bytes.
    unsafe { call.run(kernel, &team) };
    true
}

/// The same where they do not: into a buffer in which they do, and from there to the output.
///
/// # Safety
/// As for [`run`](super::run).
pub(super) unsafe fn run_buffered(
    packed: &Packed,
    kernel: PackedKernel,
    (dims, buffered): (&[Dim], &Buffered),
    src: *const u8,
    dst: *mut u8,
    lengths: Option<LengthReader<'_>>,
) -> bool {
    let Some(mut buffer) = fresh::try_bytes(buffered.bytes) else { return false };
    let Some((mut call, team)) = call(packed, dims, kernel, src, buffer.as_mut_ptr(), lengths)
    else {
        return false;
    };
    (call.dims, call.origins[1], call.stream) = (&buffered.to, 0, false);
    // SAFETY: as in `run`, for the buffer, which has room for the rows. It is then the input of the
    // rest, which reads no lengths.
    unsafe {
        call.run(kernel, &team);
        super::run(&buffered.rest, &buffered.from, buffer.as_ptr(), dst, None);
    }
    true
}
