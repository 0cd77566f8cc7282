//! Elements of cases: ordinary ones, and those that a lossy path would change.

use crate::tensor::{Data, Tensor};
use crate::types::{Kind, Type};

/// A step of SplitMix64.
pub(super) fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Small positive values that every path keeps; neighbours differ where the type has the room.
pub(super) fn ordinary(dtype: &'static Type, shape: &[usize], seed: u64) -> Tensor {
    let count = shape.iter().product();
    let mut state = seed;
    let start = split_mix(&mut state) % 89;
    let small = |at: usize| 1 + (at as u64 + start) % 97;
    if dtype.is_text() {
        let texts = (0..count).map(|at| format!("s{}", small(at)).into_bytes()).collect();
        return Tensor { dtype, shape: shape.to_vec(), data: Data::Text(texts) };
    }
    let bits: Vec<u128> = (0..count)
        .map(|at| match (dtype.kind, dtype.bits) {
            (Kind::Bool, _) | (_, 1) => u128::from(split_mix(&mut state) & 1),
            // Not zero, so that a zeroed element shows, and not the sign bit.
            (_, 2) => u128::from(1 + split_mix(&mut state) % 3),
            (_, 4) => u128::from(1 + (at as u64 + start) % 7),
            (Kind::Float(exponent, fraction), _) => whole(small(at), exponent, fraction),
            (Kind::Complex(exponent, fraction), _) => {
                let half = 1 + exponent + fraction;
                whole(small(at), exponent, fraction)
                    | whole(small(at) + 1, exponent, fraction) << half
            }
            _ => u128::from(small(at)),
        })
        .collect();
    Tensor::from_bits(dtype, shape, &bits)
}

/// A small positive integer as a float.
fn whole(value: u64, exponent: u32, fraction: u32) -> u128 {
    let power = value.ilog2();
    let bias = (1u128 << (exponent - 1)) - 1;
    let rest = u128::from(value - (1 << power));
    (u128::from(power) + bias) << fraction | rest << (fraction - power)
}

/// A tensor whose elements are ordinary, except that these bits are spread over it. For complex
/// types the bits are those of a part, and alternate between the two.
pub(super) fn with(dtype: &'static Type, shape: &[usize], special: &[u128], seed: u64) -> Tensor {
    let ordinary = ordinary(dtype, shape, seed);
    let mut bits: Vec<_> = (0..ordinary.len()).map(|at| ordinary.bits(at)).collect();
    for (number, &one) in special.iter().enumerate() {
        // Every second element, so that the special ones move among ordinary ones.
        let Some(place) = bits.get_mut(number * 2) else { break };
        *place = match dtype.kind {
            Kind::Complex(..) => {
                let (half, mask) = (dtype.bits / 2, (1u128 << (dtype.bits / 2)) - 1);
                if number % 2 == 0 { *place & !mask | one } else { *place & mask | one << half }
            }
            _ => one,
        };
    }
    Tensor::from_bits(dtype, shape, &bits)
}

/// The form of the floats of a type, if it has any.
pub(super) fn float_form(dtype: &Type) -> Option<(u32, u32)> {
    match dtype.kind {
        Kind::Float(exponent, fraction) | Kind::Complex(exponent, fraction) => {
            Some((exponent, fraction))
        }
        _ => None,
    }
}

/// Quiet NaNs with payloads, of both signs.
pub(super) fn quiet_nans(exponent: u32, fraction: u32) -> Vec<u128> {
    let (infinity, quiet, sign) = parts(exponent, fraction);
    let payload = (1 << (fraction - 1)) - 1;
    vec![
        infinity | quiet | 1,
        sign | infinity | quiet,
        infinity | quiet | payload,
        sign | infinity | quiet | 0x15 & payload,
    ]
}

/// Signalling NaNs, of both signs.
pub(super) fn signalling_nans(exponent: u32, fraction: u32) -> Vec<u128> {
    let (infinity, quiet, sign) = parts(exponent, fraction);
    vec![
        infinity | 1,
        sign | infinity | 0x15,
        infinity | (quiet >> 1),
        sign | infinity | (quiet - 1),
    ]
}

/// The smallest and the largest subnormal numbers, of both signs.
pub(super) fn subnormals(exponent: u32, fraction: u32) -> Vec<u128> {
    let (_, _, sign) = parts(exponent, fraction);
    vec![1, sign | 1, (1 << fraction) - 1, sign | 0x15]
}

/// Infinity, the bit that makes a NaN quiet, and the sign.
fn parts(exponent: u32, fraction: u32) -> (u128, u128, u128) {
    (((1 << exponent) - 1) << fraction, 1 << (fraction - 1), 1 << (exponent + fraction))
}
