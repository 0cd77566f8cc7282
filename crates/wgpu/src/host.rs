//! Tensors of the host, streamed through the device piece by piece.

use crate::binder::Moved;
use crate::device::Gpu;
use crate::error::Error;
use crate::view::{GpuLengths, View};
use retrograde::{LengthsMemory, Plan, Prepared, cpu};
use std::ops::Range;

/// Bytes of output in a piece, unless a device takes less.
const PIECE: usize = 256 << 20;

impl Gpu {
    /// Runs a plan from host memory to host memory. Lengths are checked before anything is written;
    /// bytes of the output that the plan does not write keep their values.
    pub async fn reverse(
        &self,
        plan: &Plan,
        input: &[u8],
        lengths: Option<LengthsMemory<'_>>,
        output: &mut [u8],
    ) -> Result<(), Error> {
        self.reverse_in_pieces(plan, input, lengths, output, PIECE, |_| ()).await
    }

    /// The same with about so many bytes of output at a time; `done` is told how many each piece
    /// wrote. A piece may be larger: an axis whose lanes have lengths is never cut.
    pub async fn reverse_in_pieces(
        &self,
        plan: &Plan,
        input: &[u8],
        lengths: Option<LengthsMemory<'_>>,
        output: &mut [u8],
        piece: usize,
        done: impl FnMut(u64),
    ) -> Result<(), Error> {
        let moved = Moved { plan, table: None };
        self.host_in_pieces(moved, input, lengths, output, piece, done).await
    }

    /// Runs a prepared call from host memory to host memory, as [`reverse`](Self::reverse) does with a
    /// plan. Its errors name the operator and the index of a wrong length.
    pub async fn reverse_prepared(
        &self,
        prepared: &Prepared<'_>,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), Error> {
        self.reverse_prepared_in_pieces(prepared, input, output, PIECE, |_| ()).await
    }

    /// The same in pieces: see [`reverse_in_pieces`](Self::reverse_in_pieces).
    pub async fn reverse_prepared_in_pieces(
        &self,
        prepared: &Prepared<'_>,
        input: &[u8],
        output: &mut [u8],
        piece: usize,
        done: impl FnMut(u64),
    ) -> Result<(), Error> {
        let (moved, lengths) = (Moved::of(prepared), prepared.lengths_memory());
        let reversed = self.host_in_pieces(moved, input, lengths, output, piece, done).await;
        reversed.map_err(|error| error.explained(prepared))
    }

    async fn host_in_pieces(
        &self,
        Moved { plan, table }: Moved<'_>,
        input: &[u8],
        lengths: Option<LengthsMemory<'_>>,
        output: &mut [u8],
        piece: usize,
        mut done: impl FnMut(u64),
    ) -> Result<(), Error> {
        plan.check_sizes(input.len(), output.len())?;
        cpu::Checked::new(plan, lengths)?;
        let most = usize::try_from(self.device().limits().max_buffer_size).unwrap_or(usize::MAX);
        for piece in plan.pieces(piece.min(most / 4)) {
            if piece.is_empty() {
                continue;
            }
            let per_byte = piece.unit().grain.per_byte();
            let bytes = |reach: retrograde::Reach| -> Range<usize> {
                reach.start / per_byte..reach.end.div_ceil(per_byte)
            };
            let (from, to) = (bytes(piece.src()), bytes(piece.dst()));
            let plan = piece.without_start(from.start, to.start);
            let src = self.upload(&input[from])?;
            let dst = match is_gapless(&piece) {
                true => self.allocate(to.len() as u64)?,
                false => self.upload(&output[to.clone()])?,
            };
            let lengths = lengths.map(GpuLengths::Host);
            let moved = Moved { plan: &plan, table };
            self.submit(&self.bind_moved(moved, View::whole(&src), lengths, View::whole(&dst))?);
            let result = self.download(&dst, 0..to.len() as u64).await?;
            output[to.clone()].copy_from_slice(&result);
            done(to.len() as u64);
        }
        Ok(())
    }
}

/// Whether a plan writes every bit of the bytes that it reaches.
fn is_gapless(plan: &Plan) -> bool {
    let reach = plan.dst();
    let grains = plan.units() * plan.unit().count;
    let per_byte = plan.unit().grain.per_byte();
    let whole = reach.start.is_multiple_of(per_byte)
        && (reach.end.is_multiple_of(per_byte) || plan.seals_last_byte());
    grains == reach.end - reach.start && whole
}
