//! The program `retrograde-wgpu`: the `retrograde` command with any GPU for `--device gpu`.

use anyhow::Result;
use retrograde::Prepared;
use retrograde_cli::{AnyGpu, Arguments};
use retrograde_program::programs::{Held, Programs};
use retrograde_wgpu::{Gpu, Options};

/// Bytes of output that cross the bus at a time.
const PIECE: usize = 64 << 20;
/// Overrides that, so that tests need no large files.
const PIECE_VARIABLE: &str = "RETROGRADE_WGPU_PIECE";

/// The program.
pub const PROGRAM: Held = Held::new::<Arguments>("wgpu", |arguments, again| {
    retrograde_cli::main(arguments, Some(open), &Programs::new(&[], again.to_vec()))
});

/// An adapter.
struct Adapter(Gpu);

fn open(number: Option<usize>) -> Result<Box<dyn AnyGpu>> {
    let options = Options { number, ..Options::default() };
    Ok(Box::new(Adapter(pollster::block_on(Gpu::open(options))?)))
}

impl AnyGpu for Adapter {
    fn name(&self) -> String {
        self.0.name()
    }

    fn reverse(
        &self,
        prepared: &Prepared<'_>,
        input: &[u8],
        output: &mut [u8],
        done: &mut dyn FnMut(u64),
    ) -> Result<()> {
        let set = std::env::var(PIECE_VARIABLE).ok().and_then(|bytes| bytes.parse().ok());
        let piece = set.filter(|&bytes| bytes > 0).unwrap_or(PIECE);
        let reversed = self.0.reverse_in_pieces(prepared, input, None, output, piece, done);
        Ok(pollster::block_on(reversed)?)
    }
}
