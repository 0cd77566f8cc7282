//! The kernels' text, and how a kernel is specialised. Needs no device.

use crate::choose::Route;
use crate::dispatches::Key;

/// The kernels in WGSL.
pub const SOURCE: &str = concat!(
    include_str!("kernels/common.wgsl"),
    include_str!("kernels/rows.wgsl"),
    include_str!("kernels/words.wgsl"),
    include_str!("kernels/tiles.wgsl"),
    include_str!("kernels/dense.wgsl"),
    include_str!("kernels/check.wgsl"),
);

impl Key {
    /// The entry point.
    pub(crate) fn entry(&self) -> &'static str {
        match self {
            Key::Find { .. } => "find",
            Key::Conclude { .. } => "conclude",
            Key::Move(kernel, _) => match kernel.route {
                Route::Exchange => "exchange",
                Route::Dense => "gather_dense",
                Route::Swap => "swap_dense",
                Route::Transpose => "transpose",
                _ => "gather",
            },
        }
    }

    /// The values of the overrides.
    pub(crate) fn constants(&self) -> Vec<(&'static str, f64)> {
        match self {
            Key::Find { offsets } | Key::Conclude { offsets } => {
                vec![("OFFSETS", f64::from(*offsets))]
            }
            Key::Move(kernel, each) => vec![
                ("GRAIN", f64::from(kernel.grain)),
                ("HIGH_FIRST", f64::from(kernel.high_first)),
                ("ROW", f64::from(kernel.row as u32)),
                ("STEPS", f64::from(kernel.steps)),
                ("PER_THREAD", f64::from(*each)),
                ("SMALL", f64::from(kernel.small)),
                ("TILE", f64::from(kernel.tile)),
                ("TABLE", f64::from(kernel.table)),
            ],
        }
    }
}
