//! The widths of units that divide every register, and that some kernels are compiled for: the one
//! list of them.

/// Whether units of this width divide every register.
#[inline(always)]
pub(in crate::cpu) const fn divides_registers(unit: usize) -> bool {
    matches!(unit, 1 | 2 | 4 | 8 | 16)
}

/// Evaluates an expression in which the constant `$W` is the width of a unit that
/// [divides registers](divides_registers).
macro_rules! by_width {
    ($unit:expr, $W:ident => $value:expr) => {
        by_width!(@ $unit, $W => $value, 1 2 4 8, 16)
    };
    (@ $unit:expr, $W:ident => $value:expr, $($width:literal)*, $widest:literal) => {
        match $unit {
            $($width => {
                const $W: usize = $width;
                $value
            })*
            _ => {
                const $W: usize = $widest;
                $value
            }
        }
    };
}

pub(in crate::cpu) use by_width;
