//! Tensors of the host, streamed through the device piece by piece.

use crate::device::Gpu;
use crate::error::Error;
use crate::movement::Movement;
use crate::view::GpuLengths;
use retrograde::{LengthsMemory, Plan, Prepared, cpu};
use std::ops::Range;

/// Bytes of output in a piece, unless a device takes less.
const PIECE: usize = 256 << 20;

impl Gpu {
    /// Runs a plan or a prepared call from host memory to host memory. Lengths, for a prepared call its
    /// own if none are given, are checked before anything is written; bytes of the output that the
    /// plan does not write keep their values.
    pub async fn reverse<'c>(
        &self,
        call: impl Into<Movement<'c>>,
        input: &[u8],
        lengths: Option<LengthsMemory<'_>>,
        output: &mut [u8],
    ) -> Result<(), Error> {
        self.reverse_in_pieces(call, input, lengths, output, PIECE, |_| ()).await
    }

    /// The same with about so many bytes of output at a time; `done` is told how many each piece
    /// wrote. A piece may be larger: an axis whose lanes have lengths is never cut.
    pub async fn reverse_in_pieces<'c>(
        &self,
        call: impl Into<Movement<'c>>,
        input: &[u8],
        lengths: Option<LengthsMemory<'_>>,
        output: &mut [u8],
        piece: usize,
        done: impl FnMut(u64),
    ) -> Result<(), Error> {
        let call = call.into();
        let lengths = lengths.or_else(|| call.prepared.and_then(Prepared::lengths_memory));
        let reversed = self.host_in_pieces(call, input, lengths, output, piece, done).await;
        reversed.map_err(|error| call.explain(error))
    }

    async fn host_in_pieces(
        &self,
        call: Movement<'_>,
        input: &[u8],
        lengths: Option<LengthsMemory<'_>>,
        output: &mut [u8],
        piece: usize,
        mut done: impl FnMut(u64),
    ) -> Result<(), Error> {
        let plan = call.plan;
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
            let call = Movement { plan: &plan, ..call };
            self.submit(&self.bind_movement(call, (&src).into(), lengths, (&dst).into())?);
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
