//! What each instruction set gives over the next plainer ones: every level this processor has, forced
//! in turn, on one thread. Speed as a ratio to `memcpy`.
//!
//! `cargo run --release -p retrograde-bench --example levels`

use retrograde::DType;
use retrograde::cpu::Isa;
use retrograde_bench::call::{Call, Operator, Plans};
use retrograde_bench::rounds::{Contestant, alternate, quantile};
use std::cell::RefCell;
use std::time::Duration;

/// Bytes of each tensor: in the first cache, in the second, and beyond all of them.
const SIZES: [usize; 3] = [16 << 10, 512 << 10, 64 << 20];

/// Elements of one type along the last axis, each with its operator.
const KINDS: [(&str, DType, usize, usize, Kind); 17] = [
    ("flip u8 rows of 1 KiB", DType::U8, 1, 1024, Kind::Flip),
    ("flip u16 rows of 1 KiB", DType::U16, 1, 512, Kind::Flip),
    ("flip f32 rows of 1 KiB", DType::F32, 1, 256, Kind::Flip),
    ("flip f64 rows of 1 KiB", DType::F64, 1, 128, Kind::Flip),
    ("flip f32 rows of 96 B", DType::F32, 1, 24, Kind::Flip),
    ("mirror RGB u8 rows of 1.5 KiB", DType::U8, 3, 512, Kind::Flip),
    ("mirror RGB f32 rows of 1.5 KiB", DType::F32, 3, 128, Kind::Flip),
    ("flip U4 rows of 1 KiB", DType::U4, 1, 2048, Kind::Flip),
    ("lanes u8 of 32 B", DType::U8, 1, 32, Kind::Lanes),
    ("lanes u8 of 200 B", DType::U8, 1, 200, Kind::Lanes),
    ("lanes f32 of 1 KiB", DType::F32, 1, 256, Kind::Lanes),
    ("columns u8", DType::U8, 1, 128, Kind::Columns),
    ("columns f32", DType::F32, 1, 64, Kind::Columns),
    ("columns f64", DType::F64, 1, 64, Kind::Columns),
    ("columns of 512 u8 in place", DType::U8, 1, 512, Kind::ColumnsInPlace),
    ("columns of 512 f32 in place", DType::F32, 1, 512, Kind::ColumnsInPlace),
    ("columns of 512 f64 in place", DType::F64, 1, 512, Kind::ColumnsInPlace),
];

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Flip,
    Lanes,
    Columns,
    ColumnsInPlace,
}

/// A call on about this many bytes.
fn call(bytes: usize, dtype: DType, pixel: usize, wide: usize, kind: Kind) -> Call {
    let row = (wide * pixel * dtype.bits().expect("a fixed width")).div_ceil(8);
    // In place, columns are as long as sequences often are.
    let (rows, wide) = match kind {
        Kind::ColumnsInPlace => (wide, (bytes / row).max(1)),
        _ => ((bytes / row).max(1), wide),
    };
    let lengths = |lanes: usize, len: usize| -> Vec<u8> {
        (0..lanes).flat_map(|at| ((at * 7919 % (len + 1)) as i32).to_ne_bytes()).collect()
    };
    let (operator, shape, lengths) = match kind {
        Kind::Flip => (Operator::Reverse(vec![1]), vec![rows, wide, pixel], None),
        Kind::Lanes => (Operator::Subsequences(1), vec![rows, wide], Some(lengths(rows, wide))),
        Kind::Columns | Kind::ColumnsInPlace => {
            (Operator::Subsequences(0), vec![rows, wide], Some(lengths(wide, rows)))
        }
    };
    let lengths = lengths.as_deref().map(|bytes| (DType::I32, bytes));
    Call::new(operator, dtype, &shape, None, lengths).expect("a call")
}

fn main() {
    let levels: Vec<Isa> = Isa::available().collect();
    let names: Vec<&str> = levels.iter().map(|level| level.name()).collect();
    println!(
        "{:<34}{:>9}  {}",
        "",
        "KiB",
        names.iter().map(|n| format!("{n:>12}")).collect::<String>()
    );
    for (name, dtype, pixel, wide, kind) in KINDS {
        for bytes in SIZES {
            let call = call(bytes, dtype, pixel, wide, kind);
            let src = vec![1u8; call.bytes()];
            let dst = RefCell::new(vec![0u8; call.bytes()]);
            let (call, src, dst) = (&call, &src, &dst);
            let mut contestants = vec![Contestant {
                name: "memcpy",
                against: "memcpy",
                work: Box::new(move |times| {
                    (0..times).for_each(|_| {
                        std::hint::black_box(&mut dst.borrow_mut()[..]).copy_from_slice(src)
                    });
                }),
            }];
            contestants.extend(levels.iter().map(|level| Contestant {
                name: level.name(),
                against: "memcpy",
                work: Box::new(move |times| {
                    level.force();
                    let mut dst = dst.borrow_mut();
                    match kind {
                        Kind::ColumnsInPlace => call.in_place(1, &mut dst, times),
                        _ => call.run(1, src, &mut dst, Plans::Reused, times),
                    }
                    .expect("a run");
                }),
            }));
            let measured = alternate(&mut contestants, 11, Duration::from_millis(4));
            print!("{name:<34}{:>9}  ", bytes >> 10);
            for one in &measured[1..] {
                print!("{:>12.2}", quantile(&one.ratios, 0.5));
            }
            println!();
        }
    }
}
