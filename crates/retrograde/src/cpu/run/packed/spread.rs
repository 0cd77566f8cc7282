//! Scattered elements that have no kernel of their own: they are spread to a byte each, moved by the
//! kernels for bytes, and packed again: three passes, but none of them element by element.

use crate::cpu::lengths::LengthReader;
use crate::cpu::program::Spread;
use crate::cpu::run::units;
use crate::cpu::schedule::Team;
use crate::fresh;
use crate::plan::Dim;

/// The addresses of a pass, which threads share.
#[derive(Clone, Copy)]
struct Pass {
    src: *const u8,
    dst: *mut u8,
}

// SAFETY: threads write separate parts of the output, and only read the input.
unsafe impl Send for Pass {}
// SAFETY: as above.
unsafe impl Sync for Pass {}

/// Spreads, moves and packs. False, and nothing has happened, if there is no memory for it.
///
/// # Safety
/// As for [`run`](super::run).
pub(super) unsafe fn run(
    bits: usize,
    program: &Spread,
    dims: &[Dim],
    src: *const u8,
    dst: *mut u8,
    lengths: Option<LengthReader<'_>>,
) -> bool {
    let Spread { first, end, elements, ref units } = *program;
    let per_byte = 8 / bits;
    let team = Team::new(elements);
    let (Some(mut apart), Some(mut moved)) = (
        fresh::try_bytes((end - first) * per_byte),
        fresh::try_bytes(elements.next_multiple_of(per_byte)),
    ) else {
        return false;
    };
    let (apart, moved) = (apart.as_mut_ptr(), moved.as_mut_ptr());
    // SAFETY: the input's bytes are inside its reach, the output is a whole tensor, which has
    // `elements` elements, and the buffers have room for both. The program moves bytes as it would move
    // elements: distances are in elements. It writes all of them, and the rest of the last byte is
    // written here.
    unsafe {
        let pass = Pass { src: src.add(first), dst: apart };
        in_parts(&team, end - first, per_byte, |from, to| match bits {
            4 => spread::<4>(pass, from, to),
            2 => spread::<2>(pass, from, to),
            _ => spread::<1>(pass, from, to),
        });
        units::run_on(&team, units, dims, apart, moved, lengths, None);
        let rest = elements.next_multiple_of(per_byte) - elements;
        moved.add(elements).write_bytes(0, rest);
        let pass = Pass { src: moved, dst };
        in_parts(&team, elements.div_ceil(per_byte), per_byte, |from, to| match bits {
            4 => pack::<4>(pass, from, to),
            2 => pack::<2>(pass, from, to),
            _ => pack::<1>(pass, from, to),
        });
    }
    true
}

/// Shares packed bytes among threads; each gets a range of them.
fn in_parts(
    team: &Team<'_>,
    bytes: usize,
    per_byte: usize,
    part: impl Fn(usize, usize) + Sync + Send,
) {
    let parts = team.parts(bytes * per_byte);
    let each = bytes.div_ceil(parts).max(1);
    team.run(parts, |index| {
        let from = (index * each).min(bytes);
        part(from, (from + each).min(bytes));
    });
}

/// Where an element is in its byte.
const fn shift(bits: usize, at: usize) -> usize {
    // Elements of one bit begin with the highest, others with the lowest.
    if bits == 1 { 7 - at } else { at * bits }
}

/// Spreads the elements of packed bytes `from..to`.
///
/// # Safety
/// The bytes are valid for reads, and a byte for each of their elements for writes.
unsafe fn spread<const BITS: usize>(pass: Pass, from: usize, to: usize) {
    let per_byte = 8 / BITS;
    for at in from..to {
        // SAFETY: as required of this function.
        unsafe {
            let byte = pass.src.add(at).read();
            for element in 0..per_byte {
                let value = byte >> shift(BITS, element) & (0xFF >> (8 - BITS)) as u8;
                pass.dst.add(at * per_byte + element).write(value);
            }
        }
    }
}

/// Packs elements to bytes `from..to`.
///
/// # Safety
/// A byte for each of their elements is valid for reads, and the bytes are for writes.
unsafe fn pack<const BITS: usize>(pass: Pass, from: usize, to: usize) {
    let per_byte = 8 / BITS;
    for at in from..to {
        let mut byte = 0;
        // SAFETY: as required of this function.
        unsafe {
            for element in 0..per_byte {
                byte |= pass.src.add(at * per_byte + element).read() << shift(BITS, element);
            }
            pass.dst.add(at).write(byte);
        }
    }
}
