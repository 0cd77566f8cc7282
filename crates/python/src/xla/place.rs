//! Where an operator called by XLA runs.

use super::abi::{Call, Failure};
use retrograde::Reversal;

/// The device that an operator runs on.
pub(super) trait Place {
    /// The handler's traits.
    const TRAITS: u32;

    /// Work that has to be done before the call, or is not allowed in it.
    fn prepare(call: &Call<'_>) -> Result<(), Failure>;

    /// Runs it on a call's buffers, of which `arguments` are inputs.
    fn run(
        operator: &(impl Reversal + Sync),
        call: &Call<'_>,
        arguments: usize,
    ) -> Result<(), Failure>;
}
