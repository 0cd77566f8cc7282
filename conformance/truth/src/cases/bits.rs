//! Cases on what elements are: bits that a lossy path changes, strings, packed elements.

use super::{Maker, Plain, values};
use crate::tensor::{Data, Tensor};
use crate::types::{Kind, Type, of};

/// Shapes with room for special elements among ordinary ones.
const SHAPES: [&[usize]; 2] = [&[4, 3], &[2, 3, 4]];

pub(super) fn make(maker: &mut Maker) {
    for plain in Plain::ALL {
        for dtype in plain.types() {
            floats(maker, plain, dtype);
            integers(maker, plain, dtype);
            if dtype.is_text() {
                strings(maker, plain, dtype);
            }
            if dtype.is_packed() {
                packed(maker, plain, dtype);
            }
        }
    }
}

fn special(
    maker: &mut Maker,
    rule: &'static str,
    plain: Plain,
    dtype: &'static Type,
    bits: &[u128],
) {
    for shape in SHAPES {
        let seed = maker.seed.wrapping_add(maker.cases.len() as u64);
        maker.value(rule, values::with(dtype, shape, bits, seed), plain.whole(shape));
    }
}

fn floats(maker: &mut Maker, plain: Plain, dtype: &'static Type) {
    let Some((exponent, fraction)) = values::float_form(dtype) else { return };
    let sign = 1u128 << (exponent + fraction);
    special(maker, "bits.nan-payload", plain, dtype, &values::quiet_nans(exponent, fraction));
    let signalling = values::signalling_nans(exponent, fraction);
    special(maker, "bits.signalling-nan", plain, dtype, &signalling);
    special(maker, "bits.negative-zero", plain, dtype, &[sign, 0, sign, sign]);
    special(maker, "bits.subnormal", plain, dtype, &values::subnormals(exponent, fraction));
    if fraction == 52 {
        let beyond = [0.1f64, 1e300, -1e-300, 1.0 + f64::EPSILON, f64::MAX, 16777217.0];
        let bits: Vec<_> = beyond.iter().map(|value| u128::from(value.to_bits())).collect();
        special(maker, "bits.double", plain, dtype, &bits);
    }
}

fn integers(maker: &mut Maker, plain: Plain, dtype: &'static Type) {
    let ones = |bits: usize| (1u128 << bits) - 1;
    match (dtype.kind, dtype.bits) {
        (Kind::Signed | Kind::Unsigned, 64) => {
            let wide = [(1 << 53) + 1, 1 << 32, 1 << 63, ones(64), ones(63), (1 << 31) + 1];
            special(maker, "bits.wide-integer", plain, dtype, &wide);
        }
        (Kind::Signed | Kind::Unsigned, 32) => {
            let wide = [(1 << 24) + 1, (1 << 30) + 1, 1 << 31, ones(32), ones(31), (1 << 25) + 3];
            special(maker, "bits.integer-beyond-f32", plain, dtype, &wide);
        }
        (Kind::Signed | Kind::Unsigned, 16) => {
            let ends = [1 << 15, ones(16), ones(15), 0x8001, 0x00ff, 0xff00];
            special(maker, "bits.every-byte", plain, dtype, &ends);
        }
        (Kind::Signed | Kind::Unsigned | Kind::Small, 8) => {
            let patterns: Vec<_> = (0..256).collect();
            let input = Tensor::from_bits(dtype, &[16, 16], &patterns);
            maker.value("bits.every-byte", input, plain.whole(&[16, 16]));
        }
        _ => {}
    }
}

fn strings(maker: &mut Maker, plain: Plain, dtype: &'static Type) {
    let long = "retrograde ".repeat(30);
    let texts = ["", "a\0b", "ünïcödé", "后退", &long, " ", "🎼", "\0", "z", "\n", "", "end"];
    for shape in [[4, 3], [2, 6]] {
        let data = Data::Text(texts.iter().map(|text| text.as_bytes().to_vec()).collect());
        let input = Tensor { dtype, shape: shape.to_vec(), data };
        maker.value("strings.content", input, plain.whole(&shape));
    }
}

/// Rows that start inside a byte, in a tensor that ends with one; and a tensor that does not.
fn packed(maker: &mut Maker, plain: Plain, dtype: &'static Type) {
    for shape in [&[8, 3][..], &[8, 5], &[4, 2, 3], &[2, 3, 4, 7]] {
        let input = maker.fill(dtype, shape);
        maker.value("packed.rows", input, plain.whole(shape));
    }
    if plain.least_rank() == 1 {
        for size in [3, 5, 7, 13] {
            // A single element of 4 or 2 bits more than whole bytes, or several.
            let input = maker.fill(dtype, &[size]);
            maker.value("packed.tail", input, plain.whole(&[size]));
        }
    }
    debug_assert!(dtype.bits < of("u8").bits);
}
