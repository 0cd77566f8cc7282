//! Looks bytes up in a table, in place: by their two halves, as many at a time as a register holds.

use super::stream::to_line;
use crate::cpu::simd::{Vector, WIDEST};
use crate::table::{Group, Table};
use std::mem::MaybeUninit;

/// One run of bytes.
#[derive(Debug)]
pub(in crate::cpu) struct LookUp<'a> {
    pub(in crate::cpu) at: *mut u8,
    pub(in crate::cpu) len: usize,
    pub(in crate::cpu) table: &'a Table,
}

/// Looks all of them up.
///
/// # Safety
/// Kernel contract 1 and 3: the bytes are valid for reads and writes, and initialised.
#[inline(always)]
pub(in crate::cpu) unsafe fn run<V: Vector>(job: &LookUp<'_>) {
    let &LookUp { mut at, mut len, table } = job;
    // Accesses that cross lines cost double.
    let lead = to_line(at);
    if V::SHUFFLES && lead > 0 && len >= LEAST_ALIGNED {
        // SAFETY: passed on, for bytes of the run.
        unsafe { few::<V>(at, lead, table) };
        (at, len) = (at.wrapping_add(lead), len - lead);
    }
    let mut done = 0;
    // SAFETY: kernel contract 1 and 3; a vector is only moved where its bytes are left, or through an
    // array that holds one.
    unsafe {
        // Otherwise a register is looked up byte by byte anyway.
        if V::SHUFFLES {
            // A few groups stay in registers, such as the two of letters.
            done = match table.groups() {
                [] => return,
                [one] => vectors::<V, 1>(at, len, [one]),
                [one, two] => vectors::<V, 2>(at, len, [one, two]),
                _ => vectors_of_any::<V>(at, len, table),
            };
            if done < len && len - done >= 8 {
                return few::<V>(at.add(done), len - done, table);
            }
        }
        for index in done..len {
            let byte = at.add(index);
            byte.write(table.byte_entries()[usize::from(byte.read())]);
        }
    }
}

/// Shorter runs are not worth aligning.
const LEAST_ALIGNED: usize = 4 * WIDEST;

/// Fewer bytes than a line has, through an array.
///
/// # Safety
/// As for [`run`].
#[inline(always)]
unsafe fn few<V: Vector>(at: *mut u8, len: usize, table: &Table) {
    let mut room = MaybeUninit::<[u8; WIDEST]>::zeroed();
    let room = room.as_mut_ptr().cast::<u8>();
    let mut done = 0;
    // SAFETY: as in [`run`]; all of the array is initialised.
    unsafe {
        at.copy_to_nonoverlapping(room, len);
        while done < len {
            looked_up(V::load(room.add(done)), table).store(room.add(done));
            done += V::BYTES;
        }
        room.copy_to_nonoverlapping(at, len);
    }
}

/// Whole registers, by so many groups: says how many bytes that was.
///
/// # Safety
/// As for [`run`].
#[inline(always)]
unsafe fn vectors<V: Vector, const GROUPS: usize>(
    at: *mut u8,
    len: usize,
    groups: [&Group; GROUPS],
) -> usize {
    let mut done = 0;
    // SAFETY: as in [`run`].
    unsafe {
        let half = V::splat(0x0F);
        let mut tables = [(half, half); GROUPS];
        for (tables, group) in tables.iter_mut().zip(groups) {
            let (lower, upper) = (group.lower.as_ptr(), group.upper.as_ptr());
            *tables = (V::broadcast(lower), V::broadcast(upper));
        }
        while done + V::BYTES <= len {
            let bytes = V::load(at.add(done));
            let (lower, upper) = (bytes.and(half), bytes.shr(4).and(half));
            let mut looked_up = bytes;
            for (change, applies) in tables {
                looked_up = looked_up.xor(change.shuffle(lower).and(applies.shuffle(upper)));
            }
            looked_up.store(at.add(done));
            done += V::BYTES;
        }
    }
    done
}

/// The same by any number of groups.
///
/// # Safety
/// As for [`run`].
#[inline(always)]
unsafe fn vectors_of_any<V: Vector>(at: *mut u8, len: usize, table: &Table) -> usize {
    let mut done = 0;
    while done + V::BYTES <= len {
        // SAFETY: as in [`run`].
        unsafe { looked_up(V::load(at.add(done)), table).store(at.add(done)) };
        done += V::BYTES;
    }
    done
}

/// # Safety
/// Kernel contract 3.
#[inline(always)]
unsafe fn looked_up<V: Vector>(bytes: V, table: &Table) -> V {
    // SAFETY: kernel contract 3; groups have 16 entries for each half.
    unsafe {
        let half = V::splat(0x0F);
        let (lower, upper) = (bytes.and(half), bytes.shr(4).and(half));
        let mut looked_up = bytes;
        for group in table.groups() {
            let change = V::broadcast(group.lower.as_ptr()).shuffle(lower);
            let applies = V::broadcast(group.upper.as_ptr()).shuffle(upper);
            looked_up = looked_up.xor(change.and(applies));
        }
        looked_up
    }
}
