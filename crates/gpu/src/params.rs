//! The arguments of kernels, as declared in `kernels/*.cuh`; keep both in sync.

/// No such dimension.
pub(crate) const NONE: u32 = u32::MAX;
/// The most dimensions that the fast kernels take in addition to their own.
pub(crate) const FEW: usize = 6;
/// The most dimensions of the general variant of each kernel: more than any tensor in memory can
/// have, as each has a size of at least 2.
pub(crate) const MANY: usize = 48;

/// A kernel's arguments: plain data, passed by value.
///
/// # Safety
/// `repr(C)`, without references, and with the same layout as the struct of that name in the
/// kernels.
pub(crate) unsafe trait Params {}

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Axis {
    pub(crate) len: u64,
    pub(crate) mul: u64,
    pub(crate) src: i64,
    pub(crate) dst: i64,
    pub(crate) lengths: i64,
    pub(crate) shift: u32,
    pub(crate) mul32: u32,
}

impl Axis {
    /// A dimension of this many steps.
    pub(crate) fn new(len: u64, src: i64, dst: i64, lengths: i64) -> Self {
        let (mul, shift) = divisor(len);
        // The same for 32 bits: the upper half of the quotient, rounded up again.
        let mul32 = mul.div_ceil(1 << 32) as u32;
        Axis { len, mul, src, dst, lengths, shift, mul32 }
    }

    /// Only a divisor.
    pub(crate) fn count(len: u64) -> Self {
        Axis::new(len, 0, 0, 0)
    }
}

/// Factor and shift for `divide` in `common.cuh`: `n / d` for `n` below 2^63.
///
/// With `l = ceil(log2 d)`, `mul = ceil(2^(63 + l) / d)` is between 2^63 and 2^64, and exceeds
/// the quotient by less than `2^l / d`, which no `n` below 2^63 can notice.
pub(crate) fn divisor(d: u64) -> (u64, u32) {
    let d = d.max(1);
    let shift = 64 - (d - 1).leading_zeros();
    let mul = (1u128 << (63 + shift)).div_ceil(u128::from(d));
    (mul as u64, shift)
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loops<const N: usize> {
    pub(crate) rank: u32,
    pub(crate) prefix: u32,
    pub(crate) axis: [Axis; N],
}

impl<const N: usize> Loops<N> {
    /// At most `N` axes, outermost first.
    pub(crate) fn new(axes: &[Axis], prefix: Option<usize>) -> Self {
        let mut axis = [Axis::default(); N];
        axis[..axes.len()].copy_from_slice(axes);
        Loops { rank: axes.len() as u32, prefix: prefix.map_or(NONE, |at| at as u32), axis }
    }
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lengths {
    pub(crate) first: u64,
    pub(crate) stop: u64,
    pub(crate) limit: u64,
    pub(crate) kind: u32,
    pub(crate) unused: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows {
    pub(crate) src: u64,
    pub(crate) dst: u64,
    pub(crate) policy: u64,
    pub(crate) src_begin: u64,
    pub(crate) src_end: u64,
    pub(crate) threads: u64,
    pub(crate) units: u64,
    pub(crate) chunk: Axis,
    pub(crate) unit: Axis,
    pub(crate) src_back: u32,
    pub(crate) dst_back: u32,
    pub(crate) by_length: u32,
    pub(crate) room: u32,
    pub(crate) count: u64,
    pub(crate) lengths: Lengths,
    pub(crate) rows: Loops<FEW>,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strided<const N: usize> {
    pub(crate) src: u64,
    pub(crate) dst: u64,
    pub(crate) threads: u64,
    pub(crate) lengths: Lengths,
    pub(crate) loops: Loops<N>,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gather {
    pub(crate) src: u64,
    pub(crate) dst: u64,
    pub(crate) threads: u64,
    pub(crate) run: u64,
    pub(crate) chunk: Axis,
    pub(crate) inner: [Axis; 2],
    pub(crate) prefix: u32,
    pub(crate) uniform: u32,
    pub(crate) lengths: Lengths,
    pub(crate) outer: Loops<FEW>,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns {
    pub(crate) src: u64,
    pub(crate) dst: u64,
    pub(crate) policy: u64,
    pub(crate) src_step: i64,
    pub(crate) dst_step: i64,
    pub(crate) steps: u64,
    pub(crate) width: u64,
    pub(crate) strip: Axis,
    pub(crate) unit: Axis,
    pub(crate) strips: u64,
    pub(crate) lengths_step: i64,
    pub(crate) strip_shift: u32,
    pub(crate) vectors: u32,
    pub(crate) words: u32,
    pub(crate) rows: u32,
    pub(crate) pitch: u32,
    pub(crate) unused: u32,
    pub(crate) lengths: Lengths,
    pub(crate) outer: Loops<FEW>,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tiles {
    pub(crate) src: u64,
    pub(crate) dst: u64,
    pub(crate) policy: u64,
    pub(crate) a: Axis,
    pub(crate) b: Axis,
    pub(crate) tiles_a: Axis,
    pub(crate) tiles_b: Axis,
    pub(crate) words: u32,
    pub(crate) unused: u32,
    pub(crate) lengths: Lengths,
    pub(crate) outer: Loops<FEW>,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packed {
    pub(crate) src: u64,
    pub(crate) dst: u64,
    pub(crate) threads: u64,
    pub(crate) src_origin: i64,
    pub(crate) src_begin: i64,
    pub(crate) src_end: i64,
    pub(crate) dst_begin: i64,
    pub(crate) dst_end: i64,
    pub(crate) first_chunk: i64,
    pub(crate) bits_log2: u32,
    pub(crate) high_first: u32,
    pub(crate) seals: u32,
    pub(crate) prefix_back: u32,
    pub(crate) row: u32,
    pub(crate) src_back: u32,
    pub(crate) lengths: Lengths,
    pub(crate) loops: Loops<MANY>,
}

/// The result of a length check on the device.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) stop: u32,
    pub(crate) failed: u32,
    pub(crate) ordinal: u64,
    pub(crate) value: i64,
    pub(crate) limit: u64,
    pub(crate) least: u64,
    pub(crate) arrived: u32,
    pub(crate) is_signed: u32,
}

impl Report {
    /// No invalid length so far.
    pub(crate) const CLEAR: Report = Report {
        stop: 0,
        failed: 0,
        ordinal: 0,
        value: 0,
        limit: 0,
        least: u64::MAX,
        arrived: 0,
        is_signed: 0,
    };
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Check {
    pub(crate) first: u64,
    pub(crate) report: u64,
    pub(crate) count: u64,
    pub(crate) most: u64,
    pub(crate) limit: u64,
    pub(crate) kind: u32,
    pub(crate) unused: u32,
    pub(crate) loops: Loops<MANY>,
}

// SAFETY: `repr(C)`, numbers only; fields as in rows.cuh.
unsafe impl Params for Rows {}
// SAFETY: as above, strided.cuh.
unsafe impl<const N: usize> Params for Strided<N> {}
// SAFETY: as above, strided.cuh.
unsafe impl Params for Gather {}
// SAFETY: as above, columns.cuh.
unsafe impl Params for Columns {}
// SAFETY: as above, tiles.cuh.
unsafe impl Params for Tiles {}
// SAFETY: as above, packed.cuh.
unsafe impl Params for Packed {}
// SAFETY: as above, check.cuh.
unsafe impl Params for Check {}

#[cfg(test)]
mod tests {
    use super::*;

    fn divide(n: u64, (mul, shift): (u64, u32)) -> u64 {
        let high = (u128::from(n << 1) * u128::from(mul)) >> 64;
        (high as u64) >> shift
    }

    #[test]
    fn division_by_factor_and_shift_is_division() {
        let mut numbers: Vec<u64> = (0..=40).collect();
        for power in 5..63 {
            numbers.extend([(1 << power) - 1, 1 << power, (1 << power) + 1]);
        }
        numbers.extend([1_000_003, 999_999_999_989, (1 << 63) - 1, 12_345_678_901_234_567]);
        for &d in numbers.iter().filter(|&&d| d > 0) {
            for &n in &numbers {
                assert_eq!(divide(n, divisor(d)), n / d, "{n} / {d}");
                let edge = (n / d * d).saturating_sub(1);
                assert_eq!(divide(edge, divisor(d)), edge / d, "{edge} / {d}");
            }
        }
    }

    #[test]
    fn division_of_32_bits_is_division_too() {
        let divide32 =
            |n: u32, by: Axis| ((u64::from(n << 1) * u64::from(by.mul32)) >> 32) as u32 >> by.shift;
        let mut numbers: Vec<u32> = (0..=40).collect();
        for power in 5..31 {
            numbers.extend([(1 << power) - 1, 1 << power, (1 << power) + 1]);
        }
        numbers.extend([1_000_003, (1 << 31) - 1, 2_147_483_629, 1_234_567_890]);
        for &d in numbers.iter().filter(|&&d| d > 0) {
            let by = Axis::count(u64::from(d));
            for &n in &numbers {
                let edge = (n / d * d).saturating_sub(1);
                assert_eq!((divide32(n, by), divide32(edge, by)), (n / d, edge / d), "{n} / {d}");
            }
        }
    }

    /// The result of `sizeof` for the structs in the kernels; `kernels/sizes.cuh` asserts the same.
    #[test]
    fn arguments_have_the_sizes_that_the_kernels_assert() {
        assert_eq!(size_of::<Axis>(), 48);
        assert_eq!(size_of::<Loops<FEW>>(), 296);
        assert_eq!(size_of::<Lengths>(), 32);
        assert_eq!(size_of::<Rows>(), 504);
        assert_eq!(size_of::<Strided<FEW>>(), 352);
        assert_eq!(size_of::<Gather>(), 512);
        assert_eq!(size_of::<Columns>(), 520);
        assert_eq!(size_of::<Tiles>(), 552);
        assert_eq!(size_of::<Packed>(), 2440);
        assert_eq!(size_of::<Report>(), 48);
        assert_eq!(size_of::<Check>(), 2360);
    }
}
