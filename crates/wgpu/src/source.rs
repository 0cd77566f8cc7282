//! The kernels' text, and how a kernel is specialised. Needs no device.

use crate::choose::{Kernel, Route};

/// The kernels in WGSL.
pub const SOURCE: &str = concat!(
    include_str!("kernels/common.wgsl"),
    include_str!("kernels/rows.wgsl"),
    include_str!("kernels/words.wgsl"),
    include_str!("kernels/tiles.wgsl"),
    include_str!("kernels/dense.wgsl"),
    include_str!("kernels/check.wgsl"),
);

/// The entry point of a kernel.
pub(crate) fn entry(kernel: &Kernel) -> &'static str {
    match kernel.route {
        Route::Exchange => "exchange",
        Route::Dense => "gather_dense",
        Route::Swap => "swap_dense",
        Route::Transpose => "transpose",
        _ => "gather",
    }
}

/// The values of its overrides; an invocation takes `each` words.
pub(crate) fn overrides(kernel: &Kernel, each: u32) -> Vec<(&'static str, f64)> {
    vec![
        ("GRAIN", f64::from(kernel.grain)),
        ("HIGH_FIRST", f64::from(kernel.high_first)),
        ("ROW", f64::from(kernel.row as u32)),
        ("STEPS", f64::from(kernel.steps)),
        ("PER_THREAD", f64::from(each)),
        ("SMALL", f64::from(kernel.small)),
        ("TILE", f64::from(kernel.tile)),
    ]
}
