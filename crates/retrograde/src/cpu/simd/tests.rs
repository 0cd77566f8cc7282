//! Every register type against a naive version of each method, defaults included.

use super::*;
use std::fmt::Debug;

/// Runs a generic check on every register type that this processor has.
macro_rules! on_every_level {
    ($check:ident) => {{
        $check::<portable::Pair>("portable");
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            if is_x86_feature_detected!("ssse3") {
                $check::<ssse3::Sse>("ssse3");
            }
            if is_x86_feature_detected!("avx2") {
                $check::<avx2::Avx>("avx2");
            }
            let wide = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl");
            if wide {
                $check::<avx512::Avx512<false>>("avx512");
            }
            if wide && is_x86_feature_detected!("avx512vbmi") {
                $check::<avx512::Avx512<true>>("avx512-vbmi");
            }
        }
        #[cfg(all(target_arch = "aarch64", not(miri)))]
        $check::<neon::Neon>("neon");
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        $check::<simd128::Simd128>("simd128");
    }};
}

/// Bytes that differ from their neighbours, from `seed` on.
fn bytes(seed: usize) -> [u8; 4 * WIDEST] {
    std::array::from_fn(|at| ((at + seed) * 151 + at / 7) as u8)
}

fn stored<V: Vector>(vector: V) -> Vec<u8> {
    let mut out = [0u8; WIDEST];
    // SAFETY: `on_every_level` detected the instructions; no register is wider.
    unsafe { vector.store(out.as_mut_ptr()) };
    out[..V::BYTES].to_vec()
}

fn loaded<V: Vector>(from: &[u8]) -> V {
    assert!(from.len() >= V::BYTES);
    // SAFETY: `on_every_level` detected the instructions; there are enough bytes.
    unsafe { V::load(from.as_ptr()) }
}

/// Units of `width` bytes, the first `prefix_len` of them reversed.
fn prefix_reversed(from: &[u8], width: usize, prefix_len: usize) -> Vec<u8> {
    let mut units: Vec<&[u8]> = from.chunks(width).collect();
    units[..prefix_len].reverse();
    units.concat()
}

fn same<T: PartialEq + Debug>(got: T, wanted: T, what: &str, level: &str) {
    assert_eq!(got, wanted, "{what} at {level}");
}

macro_rules! every_width {
    ($check:ident::<$V:ident>($($argument:expr),*)) => {
        $check::<$V, 1>($($argument),*);
        $check::<$V, 2>($($argument),*);
        $check::<$V, 4>($($argument),*);
        $check::<$V, 8>($($argument),*);
        $check::<$V, 16>($($argument),*);
    };
}

fn units<V: Simd, const W: usize>(level: &str) {
    let (a, b) = (bytes(1), bytes(99));
    let (n, units) = (V::BYTES, V::BYTES / W);
    // SAFETY: `on_every_level` detected the instructions; the arrays are wider than registers,
    // and counts are in range.
    unsafe {
        let order = V::order(W);
        assert_eq!(V::unit(order), W, "{level}");
        let reversed = loaded::<V>(&a).reversed(order);
        same(stored(reversed), prefix_reversed(&a[..n], W, units), "reversed", level);
        let reversed = V::load_reversed(a.as_ptr(), order);
        same(stored(reversed), prefix_reversed(&a[..n], W, units), "load_reversed", level);
        let (low, high) = V::interleave::<W>(loaded(&a), loaded(&b));
        let pairs = a[..n].chunks(W).zip(b[..n].chunks(W));
        let wanted: Vec<u8> = pairs.flat_map(|(a, b)| [a, b].concat()).collect();
        same([stored(low), stored(high)].concat(), wanted, "interleave", level);
        for reversed in [false, true] {
            let wanted = prefix_reversed(&a[..n], W, if reversed { units } else { 0 });
            same(stored(V::load_either::<W>(a.as_ptr(), reversed)), wanted, "load_either", level);
        }
        for count in 0..=units {
            let mut wanted = prefix_reversed(&a[..n], W, 0);
            wanted.truncate(count * W);
            let mut wanted = prefix_reversed(&wanted, W, count);
            wanted.extend(&b[count * W..n]);
            // Only the first `count` units are read of the first address.
            let got = V::partly_reversed::<W>(a.as_ptr(), b.as_ptr(), count);
            same(stored(got), wanted, "partly_reversed", level);

            let mut out = [7u8; WIDEST];
            if count < units {
                V::reverse_short(a.as_ptr().add(n), out.as_mut_ptr(), count * W, order);
                let last = &a[n - count * W..n];
                same(&out[..count * W], &prefix_reversed(last, W, count)[..], "short", level);
                assert!(out[count * W..].iter().all(|&byte| byte == 7), "short at {level}");
            }
            for prefix_len in 0..=count {
                let mut out = [7u8; WIDEST];
                V::lane_short::<W>(a.as_ptr(), out.as_mut_ptr(), prefix_len, count);
                let wanted = prefix_reversed(&a[..count * W], W, prefix_len);
                same(&out[..count * W], &wanted[..], "lane_short", level);
                assert!(out[count * W..].iter().all(|&byte| byte == 7), "lane at {level}");
            }
        }
    }
}

#[test]
fn units_of_every_width() {
    fn check<V: Simd>(level: &str) {
        every_width!(units::<V>(level));
    }
    on_every_level!(check);
}

fn parts<V: Simd, const W: usize>(level: &str) {
    let (a, b) = (bytes(1), bytes(99));
    let n = V::BYTES;
    // SAFETY: as in `units`; offsets leave a part's bytes in the array, and there is room for parts
    // that are apart.
    unsafe {
        let (low, high) = V::interleave_sixteens::<W>(loaded(&a), loaded(&b));
        let (mut lows, mut highs) = (Vec::new(), Vec::new());
        for (a, b) in a[..n].chunks(SIXTEEN).zip(b[..n].chunks(SIXTEEN)) {
            let pairs = a.chunks(W).zip(b.chunks(W));
            let both: Vec<u8> = pairs.flat_map(|(a, b)| [a, b].concat()).collect();
            lows.extend(&both[..SIXTEEN]);
            highs.extend(&both[SIXTEEN..]);
        }
        same([stored(low), stored(high)], [lows, highs], "interleave_sixteens", level);
        let from = [37u32, 0, 11, 48];
        for turns in 0..1 << (n / SIXTEEN) {
            let mut flips = [0; 4];
            let mut wanted = Vec::new();
            for part in 0..n / SIXTEEN {
                let reversed = turns >> part & 1 == 1;
                flips[part] = if reversed { (SIXTEEN - W) as u8 } else { 0 };
                let prefix_len = if reversed { SIXTEEN / W } else { 0 };
                wanted.extend(prefix_reversed(&a[from[part] as usize..][..SIXTEEN], W, prefix_len));
            }
            let got = V::load_sixteens::<W>(a.as_ptr(), from.as_ptr(), flips.as_ptr());
            same(stored(got), wanted, "load_sixteens", level);
        }
    }
}

#[test]
fn registers_of_several_parts() {
    fn check<V: Simd>(level: &str) {
        every_width!(parts::<V>(level));
        let (a, b) = (bytes(1), bytes(99));
        // SAFETY: as in `parts`.
        unsafe {
            let mut out = [7u8; 4 * 40];
            loaded::<V>(&a).store_sixteens(out.as_mut_ptr(), 40);
            for (part, wanted) in a[..V::BYTES].chunks(SIXTEEN).enumerate() {
                same(&out[part * 40..][..SIXTEEN], wanted, "store_sixteens", level);
            }
            let gathered = V::gather_sixteens(b.as_ptr().add(3 * 40), -40);
            let parts = (0..V::BYTES / SIXTEEN).map(|part| &b[(3 - part) * 40..][..SIXTEEN]);
            same(stored(gathered), parts.collect::<Vec<_>>().concat(), "gather_sixteens", level);
            let twelves: Vec<u8> =
                a[..V::BYTES].chunks(SIXTEEN).flat_map(|part| &part[..12]).copied().collect();
            let dense = stored(loaded::<V>(&a).dense_twelves());
            same(&dense[..twelves.len()], &twelves[..], "dense_twelves", level);
            let written = out.iter().filter(|&&byte| byte != 7).count();
            assert!(written <= V::BYTES, "store_sixteens at {level}");
            for mask in [0x0F, 0x30, 0x80, 0, 0xFF] {
                let got = V::select(V::splat(mask), loaded(&b), loaded(&a));
                let both = a.iter().zip(&b).take(V::BYTES);
                let wanted: Vec<u8> = both.map(|(a, b)| a & !mask | b & mask).collect();
                same(stored(got), wanted, "select", level);
            }
        }
    }
    on_every_level!(check);
}

fn lanes<V: Simd, const W: usize>(level: &str) {
    let (data, n) = (bytes(5), V::BYTES);
    for len in 1..=n / W / 2 {
        let map = LaneMap::new(n, W, len);
        let together = n / W / len;
        for seed in 0..4 {
            // One more than the register has units may be loaded.
            let prefix_lens: [u8; 2 * WIDEST] =
                std::array::from_fn(|at| ((at * 5 + seed * 3 + 1) % (len + 1)) as u8);
            // SAFETY: as in `units`; prefixes are at most the length of a lane.
            let got = unsafe { V::packed_lanes::<W>(data.as_ptr(), prefix_lens.as_ptr(), &map) };
            let mut wanted: Vec<u8> = Vec::new();
            for (lane, &prefix_len) in data.chunks(len * W).zip(&prefix_lens).take(together) {
                wanted.extend(prefix_reversed(lane, W, prefix_len.into()));
            }
            let whole = wanted.len();
            same(&stored(got)[..whole], &wanted[..], "packed_lanes", level);
        }
    }
}

#[test]
fn short_lanes_packed_into_a_register() {
    fn check<V: Simd>(level: &str) {
        // Units of 16 bytes are never packed, and their indices are narrower than they are.
        lanes::<V, 1>(level);
        lanes::<V, 2>(level);
        lanes::<V, 4>(level);
        lanes::<V, 8>(level);
    }
    on_every_level!(check);
}

#[test]
fn odd_widths_and_byte_permutations() {
    fn odd<V: PartialVector>(level: &str, unit: usize) {
        let (data, n) = (bytes(3), V::BYTES);
        let whole = n / unit * unit;
        // SAFETY: as in `units`.
        let got = unsafe { V::load_reversed(data.as_ptr(), V::order(unit)) };
        let wanted = prefix_reversed(&data[n - whole..n], unit, n / unit);
        same(&stored(got)[..whole], &wanted[..], "an odd width", level);
        for units in 0..if n == WIDEST { n.div_ceil(unit) } else { 0 } {
            let (mut out, bytes) = ([7u8; WIDEST], units * unit);
            // SAFETY: as in `units`.
            unsafe {
                let end = data.as_ptr().add(n);
                V::reverse_short(end, out.as_mut_ptr(), bytes, V::order(unit));
            }
            let wanted = prefix_reversed(&data[n - bytes..n], unit, units);
            same(&out[..bytes], &wanted[..], "a short row of an odd width", level);
            assert!(out[bytes..].iter().all(|&byte| byte == 7), "short at {level}");
        }
    }
    fn check<V: Simd>(level: &str) {
        assert!((1..=16).all(V::Sixteen::orders), "{level}");
        (1..=16).for_each(|unit| odd::<V::Sixteen>(level, unit));
        (1..=16).filter(|&unit| V::orders(unit)).for_each(|unit| odd::<V>(level, unit));
        let (a, b, n) = (bytes(1), bytes(99), V::BYTES);
        for seed in 0..8 {
            let order: [u8; WIDEST] =
                std::array::from_fn(|at| ((at * 29 + seed * 11) % (2 * n)) as u8);
            // SAFETY: as in `units`; there are as many numbers as bytes.
            let got = unsafe { V::permute(loaded(&a), loaded(&b), loaded(&order)) };
            let pair = [&a[..n], &b[..n]].concat();
            let wanted: Vec<u8> = order[..n].iter().map(|&at| pair[usize::from(at)]).collect();
            same(stored(got), wanted, "permute", level);
        }
    }
    on_every_level!(check);
}

#[test]
fn sub_byte_elements() {
    fn reversal<V: Simd, const BITS: usize>(level: &str) {
        let data = bytes(17);
        // SAFETY: as in `units`.
        let got = unsafe {
            let in_bytes = bits::InBytes::<V>::new(BITS);
            let got = in_bytes.reversed::<0>(loaded(&data));
            let known = in_bytes.reversed::<BITS>(loaded(&data));
            same(stored(known), stored(got), "a known width", level);
            got
        };
        let one = |&byte: &u8| {
            let elements =
                (0..8 / BITS).map(|at| byte >> (at * BITS) & (1u8 << BITS).wrapping_sub(1));
            elements.fold(0u8, |sum, element| sum << BITS | element)
        };
        let wanted: Vec<u8> = data[..V::BYTES].iter().map(one).collect();
        same(stored(got), wanted, "elements in bytes", level);
    }
    fn check<V: Simd>(level: &str) {
        reversal::<V, 1>(level);
        reversal::<V, 2>(level);
        reversal::<V, 4>(level);
        let (a, b) = (bytes(1), bytes(99));
        for shift in 1..8 {
            // SAFETY: as in `units`; the shift is in range.
            let got = unsafe { bits::funnel::<V>(loaded(&a), loaded(&b), shift) };
            let one = |(&a, &b): (&u8, &u8)| a << shift | b >> (8 - shift);
            let wanted: Vec<u8> = a.iter().zip(&b).take(V::BYTES).map(one).collect();
            same(stored(got), wanted, "funnel", level);
        }
    }
    on_every_level!(check);
}

#[test]
fn bits_and_looking_bytes_up() {
    fn check<V: Simd>(level: &str) {
        let (a, b, n) = (bytes(1), bytes(99), V::BYTES);
        let each = |of: fn(u8, u8) -> u8| -> Vec<u8> {
            a.iter().zip(&b).take(n).map(|(&a, &b)| of(a, b)).collect()
        };
        // Numbers below 16, and some that stand for no byte.
        let order: [u8; 4 * WIDEST] =
            std::array::from_fn(|at| (at * 7 % 16) as u8 | if at % 5 == 4 { 0x80 } else { 0 });
        let numbers = order[..n].chunks(16).zip(a.chunks(16));
        let shuffled: Vec<u8> = numbers
            .flat_map(|(order, from)| {
                order.iter().map(|&at| if at < 16 { from[usize::from(at)] } else { 0 })
            })
            .collect();
        // SAFETY: as in `units`.
        unsafe {
            let (x, y) = (loaded::<V>(&a), loaded::<V>(&b));
            same(stored(V::splat(0xA5)), vec![0xA5; n], "splat", level);
            same(stored(V::broadcast(a.as_ptr())), a[..16].repeat(n / 16), "broadcast", level);
            same(stored(x.and(y)), each(|a, b| a & b), "and", level);
            same(stored(x.or(y)), each(|a, b| a | b), "or", level);
            same(stored(x.reversed_bits()), each(|a, _| a.reverse_bits()), "reversed_bits", level);
            same(stored(x.shuffle(loaded(&order))), shuffled, "shuffle", level);
            for shift in 0..8 {
                let (left, right) = (V::splat(0xFF << shift), V::splat(0xFF >> shift));
                let wanted: Vec<u8> = a[..n].iter().map(|a| a << shift).collect();
                same(stored(x.shl(shift).and(left)), wanted, "shl", level);
                let wanted: Vec<u8> = a[..n].iter().map(|a| a >> shift).collect();
                same(stored(x.shr(shift).and(right)), wanted, "shr", level);
            }
        }
    }
    on_every_level!(check);
}

#[test]
fn parts_and_nontemporal_stores() {
    fn check<V: Simd>(level: &str) {
        #[repr(align(64))]
        struct Line([u8; WIDEST]);
        let data = bytes(23);
        let mut line = Line([0; WIDEST]);
        // SAFETY: as in `units`; the line is aligned.
        unsafe { loaded::<V>(&data).store_nontemporal(line.0.as_mut_ptr()) };
        same(&line.0[..V::BYTES], &data[..V::BYTES], "store_nontemporal", level);
        for from in 0..=V::BYTES {
            for to in from..=V::BYTES {
                let mut out = [7u8; WIDEST];
                // SAFETY: as in `units`; the range is in the register.
                unsafe { loaded::<V>(&data).store_range(out.as_mut_ptr(), from, to) };
                let mut wanted = [7u8; WIDEST];
                wanted[from..to].copy_from_slice(&data[from..to]);
                same(out, wanted, "store_range", level);
            }
        }
    }
    on_every_level!(check);
}

/// A page between two that fault when they are touched.
#[cfg(all(target_os = "linux", not(miri)))]
struct Page {
    map: *mut u8,
    size: usize,
}

#[cfg(all(target_os = "linux", not(miri)))]
impl Page {
    fn new() -> Self {
        // SAFETY: a new mapping of three pages, of which the middle one becomes accessible.
        unsafe {
            let size = libc::sysconf(libc::_SC_PAGESIZE) as usize;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let map = libc::mmap(std::ptr::null_mut(), 3 * size, libc::PROT_NONE, flags, -1, 0);
            assert_ne!(map, libc::MAP_FAILED);
            let middle = map.cast::<u8>().add(size);
            let access = libc::PROT_READ | libc::PROT_WRITE;
            assert_eq!(libc::mprotect(middle.cast(), size, access), 0);
            Page { map: map.cast(), size }
        }
    }

    /// The first `len` bytes of the page or the last, filled with `content`.
    fn place(&self, content: &[u8], last: bool) -> *mut u8 {
        let from = self.size + if last { self.size - content.len() } else { 0 };
        // SAFETY: inside the accessible page.
        unsafe {
            let place = self.map.add(from);
            place.copy_from_nonoverlapping(content.as_ptr(), content.len());
            place
        }
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`.
        unsafe { libc::munmap(self.map.cast(), 3 * self.size) };
    }
}

/// Rows and lanes that begin or end at an inaccessible page.
#[test]
#[cfg(all(target_os = "linux", not(miri)))]
fn nothing_beside_a_short_row_is_touched() {
    fn short<V: Simd, const W: usize>(level: &str) {
        let (data, input, output) = (bytes(31), Page::new(), Page::new());
        for units in 1..=V::BYTES / W {
            let (row, bytes) = (&data[..units * W], units * W);
            for (src_last, dst_last) in [(false, false), (false, true), (true, false), (true, true)]
            {
                for prefix_len in 0..=units {
                    let (src, dst) =
                        (input.place(row, src_last), output.place(&[7; WIDEST][..bytes], dst_last));
                    // SAFETY: as in `units`; `bytes` bytes are valid on both sides.
                    let got = unsafe {
                        V::lane_short::<W>(src, dst, prefix_len, units);
                        std::slice::from_raw_parts(dst, bytes)
                    };
                    same(got, &prefix_reversed(row, W, prefix_len), "lane_short", level);
                }
                if bytes == V::BYTES {
                    continue;
                }
                let (src, dst) =
                    (input.place(row, src_last), output.place(&[7; WIDEST][..bytes], dst_last));
                // SAFETY: as above.
                let got = unsafe {
                    V::reverse_short(src.add(bytes), dst, bytes, V::order(W));
                    std::slice::from_raw_parts(dst, bytes)
                };
                same(got, &prefix_reversed(row, W, units), "reverse_short", level);
            }
        }
    }
    fn check<V: Simd>(level: &str) {
        every_width!(short::<V>(level));
    }
    on_every_level!(check);
}
