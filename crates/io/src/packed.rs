//! Elements that are smaller than a byte: from one byte each to a few bits each, and back.

use retrograde::{BitOrder, DType, Grain};

/// Packs elements of one byte each; higher bits are dropped. Others are kept as they are.
pub(crate) fn pack(elements: &[u8], dtype: DType) -> Vec<u8> {
    let Some(Grain::Packed { bits, order }) = dtype.grain() else { return elements.to_vec() };
    let mask = (1u8 << bits) - 1;
    let pack_byte = |group: &[u8]| {
        let places = group.iter().enumerate();
        places.fold(0, |byte, (at, element)| byte | (element & mask) << shift(bits, order, at))
    };
    elements.chunks(8 / usize::from(bits)).map(pack_byte).collect()
}

/// The first `count` elements as bytes, with higher bits of zero. Others are kept as they are.
pub(crate) fn unpack(bytes: &[u8], dtype: DType, count: usize) -> Vec<u8> {
    let Some(Grain::Packed { bits, order }) = dtype.grain() else { return bytes.to_vec() };
    let mask = (1u8 << bits) - 1;
    let each = move |&byte: &u8| {
        (0..8 / usize::from(bits)).map(move |at| byte >> shift(bits, order, at) & mask)
    };
    bytes.iter().flat_map(each).take(count).collect()
}

/// One packed element; `None` beyond the end, and for other types.
pub(crate) fn element(bytes: &[u8], dtype: DType, at: usize) -> Option<u8> {
    let Some(Grain::Packed { bits, order }) = dtype.grain() else { return None };
    let per_byte = 8 / usize::from(bits);
    let byte = bytes.get(at / per_byte)?;
    Some(byte >> shift(bits, order, at % per_byte) & ((1 << bits) - 1))
}

/// Where an element begins in its byte.
fn shift(bits: u8, order: BitOrder, at: usize) -> u32 {
    let shift = u32::from(bits) * at as u32;
    if order == BitOrder::LowFirst { shift } else { 8 - u32::from(bits) - shift }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_elements_fill_bytes_from_the_right_end() {
        for (elements, dtype, packed) in [
            (&[1, 2, 0x0F][..], DType::I4, &[0x21, 0x0F][..]),
            (&[0, 1, 2, 3, 1], DType::U2, &[0xE4, 0x01]),
            (&[1, 0, 1, 1, 0, 0, 0, 1, 0, 1], DType::U1, &[0xB1, 0x40]),
            (&[7, 8], DType::U8, &[7, 8]),
        ] {
            assert_eq!(pack(elements, dtype), packed, "{dtype}");
            assert_eq!(unpack(packed, dtype, elements.len()), elements, "{dtype}");
        }
        assert_eq!(pack(&[0xF1, 0x82], DType::U4), [0x21]);
    }
}
