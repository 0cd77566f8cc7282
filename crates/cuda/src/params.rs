//! The kernel arguments, with the same layout as the structs in `kernels/*.cuh`. The tests in
//! `mirror` compare both declarations field by field.

#[cfg(test)]
mod mirror;

/// Marks a dimension that does not exist.
pub(crate) const NONE: u32 = u32::MAX;
/// The maximum number of outer dimensions of the fast kernels.
pub(crate) const FEW: usize = 6;
/// The maximum number of dimensions of the general variant of each kernel. No tensor in memory has
/// more, because each dimension here has a size of at least 2.
pub(crate) const MANY: usize = 48;

/// The arguments of a kernel: plain data, passed by value.
///
/// # Safety
/// The type must be `repr(C)`, contain no references, and match the struct of the same name in the
/// kernels. `mirror` must compare it.
pub(crate) unsafe trait Params {}

/// Declares a struct of arguments as `repr(C)`, and lists its fields for the tests.
macro_rules! arguments {
    (
        $(#[$attribute:meta])*
        struct $name:ident $(<const $count:ident: usize>)? { $($field:ident: $kind:ty,)* }
    ) => {
        #[repr(C)]
        $(#[$attribute])*
        pub(crate) struct $name $(<const $count: usize>)? { $(pub(crate) $field: $kind,)* }

        #[cfg(test)]
        impl $(<const $count: usize>)? mirror::Fields for $name $(<$count>)? {
            fn fields() -> Vec<mirror::Field> {
                vec![$(mirror::Field {
                    name: stringify!($field).to_owned(),
                    kind: stringify!($kind).to_owned(),
                    offset: std::mem::offset_of!(Self, $field),
                    size: size_of::<$kind>(),
                }),*]
            }
        }
    };
}

arguments! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    struct Axis {
        len: u64,
        mul: u64,
        src: i64,
        dst: i64,
        lengths: i64,
        shift: u32,
        mul32: u32,
    }
}

impl Axis {
    /// A dimension of size `len` with these strides.
    pub(crate) fn new(len: u64, src: i64, dst: i64, lengths: i64) -> Self {
        let (mul, shift) = divisor(len);
        // The multiplier for 32-bit division: the upper half of `mul`, rounded up.
        let mul32 = mul.div_ceil(1 << 32) as u32;
        Axis { len, mul, src, dst, lengths, shift, mul32 }
    }

    /// A divisor without strides.
    pub(crate) fn count(len: u64) -> Self {
        Axis::new(len, 0, 0, 0)
    }
}

/// The multiplier and shift with which `divide` in `common.cuh` computes `n / d` for `n < 2^63`.
///
/// With `l = ceil(log2 d)`, `mul = ceil(2^(63 + l) / d)` is between 2^63 and 2^64. Rounding up adds
/// less than 1 to `mul`, which cannot change the result for any `n < 2^63`.
pub(crate) fn divisor(d: u64) -> (u64, u32) {
    let d = d.max(1);
    let shift = 64 - (d - 1).leading_zeros();
    let mul = (1u128 << (63 + shift)).div_ceil(u128::from(d));
    (mul as u64, shift)
}

arguments! {
    #[derive(Debug, Clone, Copy)]
    struct Loops<const N: usize> {
        rank: u32,
        prefix: u32,
        axis: [Axis; N],
    }
}

impl<const N: usize> Loops<N> {
    /// Loops over at most `N` axes, outermost first.
    pub(crate) fn new(axes: &[Axis], prefix: Option<usize>) -> Self {
        let mut axis = [Axis::default(); N];
        axis[..axes.len()].copy_from_slice(axes);
        Loops { rank: axes.len() as u32, prefix: prefix.map_or(NONE, |at| at as u32), axis }
    }
}

arguments! {
    #[derive(Debug, Clone, Copy)]
    struct Lengths {
        first: u64,
        stop: u64,
        limit: u64,
        step: i64,
        count: u64,
        kind: u32,
        zero: u32,
    }
}

arguments! {
    #[derive(Debug, Clone, Copy)]
    struct Rows {
        src: u64,
        dst: u64,
        policy: u64,
        src_begin: u64,
        src_end: u64,
        threads: u64,
        units: u64,
        chunk: Axis,
        unit: Axis,
        src_back: u32,
        dst_back: u32,
        by_length: u32,
        room: u32,
        count: u64,
        lengths: Lengths,
        rows: Loops<FEW>,
    }
}

arguments! {
    #[derive(Debug, Clone, Copy)]
    struct Segments {
        src: u64,
        dst: u64,
        policy: u64,
        src_begin: u64,
        src_end: u64,
        steps: u64,
        src_step: i64,
        dst_step: i64,
        tiles: Axis,
        run: u64,
        pieces: Axis,
        unit: u64,
        piece: u64,
        lengths: Lengths,
        outer: Loops<FEW>,
    }
}

arguments! {
    #[derive(Debug, Clone, Copy)]
    struct Strided {
        src: u64,
        dst: u64,
        threads: u64,
        lengths: Lengths,
        loops: Loops<MANY>,
    }
}

arguments! {
    #[derive(Debug, Clone, Copy)]
    struct Gather {
        src: u64,
        dst: u64,
        threads: u64,
        run: u64,
        chunk: Axis,
        inner: [Axis; 2],
        prefix: u32,
        uniform: u32,
        lengths: Lengths,
        outer: Loops<FEW>,
    }
}

arguments! {
    #[derive(Debug, Clone, Copy)]
    struct Columns {
        src: u64,
        dst: u64,
        policy: u64,
        src_step: i64,
        dst_step: i64,
        steps: u64,
        width: u64,
        strip: Axis,
        unit: Axis,
        strips: u64,
        lengths_step: i64,
        strip_shift: u32,
        vectors: u32,
        words: u32,
        rows: u32,
        pitch: u32,
        unused: u32,
        lengths: Lengths,
        outer: Loops<FEW>,
    }
}

arguments! {
    #[derive(Debug, Clone, Copy)]
    struct Passes {
        columns: Columns,
        scratch: u64,
        written: u64,
        read: u64,
        store_policy: u64,
        pitch: u64,
        behind: u64,
        tiles: Axis,
        ring: Axis,
    }
}

arguments! {
    #[derive(Debug, Clone, Copy)]
    struct Tiles {
        src: u64,
        dst: u64,
        policy: u64,
        a: Axis,
        b: Axis,
        tiles_a: Axis,
        tiles_b: Axis,
        words: u32,
        unused: u32,
        lengths: Lengths,
        outer: Loops<FEW>,
    }
}

arguments! {
    #[derive(Debug, Clone, Copy)]
    struct Packed {
        src: u64,
        dst: u64,
        threads: u64,
        src_origin: i64,
        src_begin: i64,
        src_end: i64,
        dst_begin: i64,
        dst_end: i64,
        first_chunk: i64,
        bits_log2: u32,
        high_first: u32,
        seals: u32,
        prefix_back: u32,
        row: u32,
        src_back: u32,
        lengths: Lengths,
        loops: Loops<MANY>,
    }
}

arguments! {
    /// The result of the check of lengths or offsets, in device memory.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    struct Report {
        stop: u32,
        failed: u32,
        ordinal: u64,
        value: i64,
        limit: u64,
        low: u64,
        least: u64,
        arrived: u32,
        is_signed: u32,
        is_offset: u32,
        zero: u32,
    }
}

impl Lengths {
    /// Offsets of a call into a new output that stages its input: if one is invalid, the call copies
    /// its input instead, or leaves it where it is.
    pub(crate) fn copying_when_stopped(self, report: u64) -> Self {
        Lengths { stop: Report::word(report, true), zero: 1, ..self }
    }
}

impl Report {
    /// The address of the word that tells kernels whether to stop: that of a report at this address,
    /// or the zero in it.
    pub(crate) fn word(report: u64, stops: bool) -> u64 {
        let offset = match stops {
            true => std::mem::offset_of!(Report, stop),
            false => std::mem::offset_of!(Report, zero),
        };
        report + offset as u64
    }

    /// Nothing invalid so far.
    pub(crate) const CLEAR: Report = Report {
        stop: 0,
        failed: 0,
        ordinal: 0,
        value: 0,
        limit: 0,
        low: 0,
        least: u64::MAX,
        arrived: 0,
        is_signed: 0,
        is_offset: 0,
        zero: 0,
    };
}

arguments! {
    #[derive(Debug, Clone, Copy)]
    struct Check {
        first: u64,
        report: u64,
        count: u64,
        most: u64,
        limit: u64,
        alarm: u64,
        kind: u32,
        offsets: u32,
        loops: Loops<MANY>,
    }
}

// SAFETY: `repr(C)` with numeric fields only; the fields match rows.cuh.
unsafe impl Params for Rows {}
// SAFETY: as above, segments.cuh.
unsafe impl Params for Segments {}
// SAFETY: as above, strided.cuh.
unsafe impl Params for Strided {}
// SAFETY: as above, strided.cuh.
unsafe impl Params for Gather {}
// SAFETY: as above, columns.cuh.
unsafe impl Params for Columns {}
// SAFETY: as above, scratch.cuh.
unsafe impl Params for Passes {}
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
        assert_eq!(size_of::<Lengths>(), 48);
        assert_eq!(size_of::<Rows>(), 520);
        assert_eq!(size_of::<Segments>(), 528);
        assert_eq!(size_of::<Strided>(), 2384);
        assert_eq!(size_of::<Gather>(), 528);
        assert_eq!(size_of::<Columns>(), 536);
        assert_eq!(size_of::<Passes>(), 680);
        assert_eq!(size_of::<Tiles>(), 568);
        assert_eq!(size_of::<Packed>(), 2456);
        assert_eq!(size_of::<Report>(), 64);
        assert_eq!(size_of::<Check>(), 2368);
    }
}
