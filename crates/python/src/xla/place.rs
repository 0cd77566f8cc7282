//! Where an operator runs that XLA calls.

use super::abi::{Call, Failure};
use retrograde::Reversal;

/// Where an operator runs.
pub(super) trait Place {
    /// What XLA may rely on.
    const TRAITS: u32;

    /// Whatever must not wait until the call, or is not allowed in it.
    fn prepare(call: &Call<'_>) -> Result<(), Failure>;

    /// Runs it on a call's buffers; so many are arguments.
    fn run(
        operator: &(impl Reversal + Sync),
        call: &Call<'_>,
        arguments: usize,
    ) -> Result<(), Failure>;
}
