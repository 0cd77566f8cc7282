//! An upper bound for kernels with a length per column. Copies a table strip by strip through a
//! small buffer, as such lengths require, without reversing or transposing anything, and compares
//! it with one sequential copy: no kernel for such lengths can be faster than that on this machine.
//!
//! `cargo run --release -p retrograde-bench --example strips`

use memmap2::MmapMut;
use retrograde_bench::rounds::{Contestant, alternate, quantile};
use std::time::Duration;

/// One cache line.
const LINE: usize = 64;

/// Rows, bytes from row to row, and bytes per row of a strip.
struct Table {
    rows: usize,
    pitch: usize,
    strip: usize,
}

impl Table {
    /// Copies from `src` to `buffer`, from there to `dst`, or both.
    fn run(&self, src: &[u8], dst: &mut [u8], buffer: &mut [u8], load: bool, store: bool) {
        for column in (0..self.pitch).step_by(self.strip) {
            for row in 0..self.rows {
                let (at, staged) = (row * self.pitch + column, row * self.strip);
                if load {
                    buffer[staged..staged + self.strip].copy_from_slice(&src[at..at + self.strip]);
                }
            }
            for row in 0..self.rows {
                let (at, staged) = (row * self.pitch + column, row * self.strip);
                if store {
                    let staged = &buffer[staged..staged + self.strip];
                    stream(staged, &mut dst[at..at + self.strip]);
                }
            }
        }
    }
}

/// Copies whole cache lines with non-temporal stores.
fn stream(src: &[u8], dst: &mut [u8]) {
    assert!(src.len() == dst.len() && src.len().is_multiple_of(LINE));
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
        assert!(dst.as_ptr().addr().is_multiple_of(16));
        for at in (0..src.len()).step_by(16) {
            // SAFETY: both slices have these 16 bytes, and the output's are aligned.
            unsafe {
                let part = _mm_loadu_si128(src.as_ptr().add(at).cast::<__m128i>());
                _mm_stream_si128(dst.as_mut_ptr().add(at).cast::<__m128i>(), part);
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    dst.copy_from_slice(src);
}

/// Memory in huge pages, if the system has them: as few page walks as possible.
fn memory(bytes: usize) -> MmapMut {
    let mut memory = MmapMut::map_anon(bytes).expect("enough memory for two tables");
    #[cfg(target_os = "linux")]
    // If the advice is not taken, figures are lower but not wrong.
    let _ = memory.advise(memmap2::Advice::HugePage);
    memory.fill(1);
    memory
}

fn main() {
    println!("time of a plain copy / time of strips through a buffer; one thread, medians of 9");
    println!(
        "{:>6} {:>7} {:>6} {:>6} {:>6} {:>6}",
        "rows", "pitch", "strip", "load", "store", "both"
    );
    for (rows, pitch) in [(8192, 16384), (512, 4096)] {
        // The small table is repeated, so that neither fits in a cache.
        let tables = (128 << 20) / (rows * pitch);
        let bytes = rows * pitch;
        let (src, mut dst) = (memory(tables * bytes), memory(tables * bytes));
        for strip in [64, 128, 256, 512, 1024] {
            let table = Table { rows, pitch, strip };
            let mut ratios = Vec::new();
            for (load, store) in [(true, false), (false, true), (true, true)] {
                ratios.push(measured(&table, &src, &mut dst, tables, load, store));
            }
            let [load, store, both] = ratios[..] else { unreachable!("three were measured") };
            println!("{rows:>6} {pitch:>7} {strip:>6} {load:>6.2} {store:>6.2} {both:>6.2}");
        }
    }
}

/// The median ratio of the time of a plain copy to this.
fn measured(
    table: &Table,
    src: &[u8],
    dst: &mut [u8],
    tables: usize,
    load: bool,
    store: bool,
) -> f64 {
    let bytes = table.rows * table.pitch;
    let mut buffer = vec![0; table.rows * table.strip];
    let dst = std::cell::RefCell::new(dst);
    let copy = |times: usize| {
        for _ in 0..times {
            dst.borrow_mut().copy_from_slice(src);
        }
    };
    let strips = |times: usize| {
        for index in (0..times).flat_map(|_| 0..tables) {
            let place = index * bytes..(index + 1) * bytes;
            let dst = &mut dst.borrow_mut()[place.clone()];
            table.run(&src[place], dst, &mut buffer, load, store);
        }
    };
    let mut contestants = [
        Contestant { name: "copy", against: "copy", work: Box::new(copy) },
        Contestant { name: "strips", against: "copy", work: Box::new(strips) },
    ];
    let sampled = alternate(&mut contestants, 9, Duration::ZERO);
    quantile(&sampled[1].ratios, 0.5)
}
