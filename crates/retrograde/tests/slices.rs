//! The typed slice functions: any `Copy` type, elements that must be cloned, elements that
//! can only be moved, uninitialised outputs, nothing to move.
//!
//! Some of them can only fail under Miri (`scripts/check miri`): bytes that nobody wrote, pointers
//! that lose what they point to, addresses outside an allocation.

use retrograde::cpu::{Isa, Tuning};
use retrograde::{
    Error, LengthPolicy, Reversal, Reverse, ReverseMode, ReverseSegments, ReverseSequence,
    ReverseSubsequences, TensorRef,
};
use std::borrow::Cow;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicIsize, Ordering};

fn batch_major() -> ReverseSequence {
    ReverseSequence::new().time_axis(1).batch_axis(0)
}

/// Padding between the fields, which must travel along unread.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
struct Padded {
    tag: u8,
    value: u64,
    flag: bool,
}

#[test]
fn structs_with_padding_move_whole() {
    let x: Vec<Padded> = (0..12u8)
        .map(|n| Padded { tag: n, value: u64::from(n) << 40, flag: n.is_multiple_of(2) })
        .collect();
    let y = Reverse::axes([1]).to_vec(&x, &[3, 4]).unwrap();
    for (index, element) in y.iter().enumerate() {
        assert_eq!(*element, x[index / 4 * 4 + 3 - index % 4]);
    }
    let mut in_place = x.clone();
    Reverse::axes([1]).in_place(&mut in_place, &[3, 4]).unwrap();
    assert_eq!(in_place, y);
}

/// An element of `1 + N` bytes of which only the first is ever written, as in an enum whose
/// variants have different sizes.
#[derive(Clone, Copy)]
#[repr(C)]
struct Spaced<const N: usize>(u8, MaybeUninit<[u8; N]>);

impl<const N: usize> Spaced<N> {
    fn new(tag: u8) -> Self {
        Spaced(tag, MaybeUninit::uninit())
    }
}

/// Runs `call` with every instruction set, storing through the caches and past them, and with
/// the work shared among threads. The settings are the process's, but results depend on none.
fn every_way(call: impl Fn()) {
    let eager = Tuning { stream_from: Some(0), ..Tuning::default() };
    let shared = Tuning { share_from: 0, wake_from: 0, least_part: 1, ..eager };
    for isa in Isa::available() {
        for tuning in [Tuning::default(), shared, eager] {
            if cfg!(miri) && tuning == eager {
                // As `shared`, but for the threads. Miri takes long enough.
                continue;
            }
            isa.force();
            tuning.apply();
            call();
        }
    }
    Tuning::default().apply();
}

/// Moves elements that `element` makes of numbers in all the ways that slices can: rows, a middle
/// axis, lanes and columns with lengths of their own. `is` says whether an element is the one
/// of a number.
fn moves_whole<T: Copy>(element: impl Fn(u8) -> T, is: impl Fn(T, u8) -> bool) {
    // One more than fit the plainest vector.
    let few = 1 + (16 / size_of::<T>()).max(2);
    let lengths: Vec<u8> = (0..few as u8).collect();
    let long = [5, 128usize.div_ceil(size_of::<T>()) + 3];
    moved(&Reverse::axes([1]), &long, &element, &is);
    moved(&batch_major().lengths(&[0u8, 1, 2, 3, long[1] as u8]), &long, &element, &is);
    moved(&ReverseSequence::new().lengths(&lengths), &[few, few], &element, &is);
    moved(&ReverseSubsequences::along(1).lengths(&[0, 5, 1, 4]), &[2, 5, 2], &element, &is);
    moved(&Reverse::axes([1]), &[2, 3, 2], &element, &is);
}

/// To a new vector and in place, elements go where their numbers go.
fn moved<'r, T: Copy>(
    reversal: &impl Reversal<'r>,
    shape: &[usize],
    element: &impl Fn(u8) -> T,
    is: &impl Fn(T, u8) -> bool,
) {
    let numbers: Vec<u8> = (0..shape.iter().product()).map(|n: usize| n as u8).collect();
    let wanted = reversal.to_vec(&numbers, shape).unwrap();
    let x: Vec<T> = numbers.iter().map(|&n| element(n)).collect();
    every_way(|| {
        let y = reversal.to_vec(&x, shape).unwrap();
        let mut in_place = x.clone();
        reversal.in_place(&mut in_place, shape).unwrap();
        for at in (0..x.len()).step_by(if cfg!(miri) { 5 } else { 1 }) {
            assert!(is(y[at], wanted[at]), "element {at} of {shape:?}");
            assert!(is(in_place[at], wanted[at]), "element {at} of {shape:?}, in place");
        }
    });
}

#[test]
fn bytes_that_nobody_wrote_move_unread() {
    fn spaced<const N: usize>() {
        moves_whole(Spaced::<N>::new, |element, number| element.0 == number);
    }
    // Widths that kernels know, some that they do not, and wide ones.
    spaced::<1>();
    spaced::<2>();
    spaced::<7>();
    spaced::<15>();
    spaced::<71>();
    if !cfg!(miri) {
        spaced::<3>();
        spaced::<4>();
        spaced::<5>();
        spaced::<11>();
        spaced::<23>();
    }
    // Of single bytes, every other one is there.
    moves_whole(
        |n| if n % 2 == 0 { MaybeUninit::new(n) } else { MaybeUninit::uninit() },
        // SAFETY: the elements of even numbers were written.
        |element, n| n % 2 == 1 || unsafe { element.assume_init() } == n,
    );
    moves_whole(
        |n| (n % 2 == 0).then_some(u16::from(n)),
        |element, n| element == (n % 2 == 0).then_some(u16::from(n)),
    );
}

#[test]
fn references_still_point_to_what_they_did() {
    let table: Vec<u8> = (0..=255).collect();
    let at = |n: u8| &table[usize::from(n)];
    moves_whole(at, |element, n| *element == n);
    moves_whole(|n| (at(n), n), |(element, tag), n| *element == n && tag == n);
    moves_whole(|n| [at(n); 3], |element, n| element.iter().all(|&&tag| tag == n));
    if !cfg!(miri) {
        moves_whole(|n| &table[usize::from(n)..], |element, n| element[0] == n);
    }
}

#[test]
fn lanes_of_length_0_stay_as_they_are_in_place() {
    // Widths, and places of lanes, that kernels for short lanes do not take.
    fn stay<T: Copy + PartialEq + std::fmt::Debug>(element: T) {
        let lanes = ReverseSubsequences::along(1);
        for shape in [[1, 4, 1], [2, 4, 3], [1, 600, 1]] {
            let x = vec![element; shape.iter().product()];
            let lengths = vec![0u8; shape[0] * shape[2]];
            let mut y = x.clone();
            lanes.lengths(&lengths).in_place(&mut y, &shape).unwrap();
            assert_eq!(x, y);
        }
    }
    every_way(|| {
        stay(1u8);
        stay([1u8; 3]);
        stay(1u64);
        stay([1u8; 100]);
    });
}

#[test]
fn bools_chars_and_references_are_elements_too() {
    let y = Reverse::all().to_vec(&[true, false, false], &[3]).unwrap();
    assert_eq!(y, [false, false, true]);
    let y = batch_major().lengths(&[2, 3]).to_vec(&['a', 'b', '_', 'x', 'y', 'z'], &[2, 3]);
    assert_eq!(y.unwrap(), ['b', 'a', '_', 'z', 'y', 'x']);
    let words = [String::from("one"), String::from("two")];
    let references = [&words[0], &words[1]];
    assert_eq!(Reverse::all().to_vec(&references, &[2]).unwrap(), [&words[1], &words[0]]);
}

#[test]
fn every_bit_pattern_survives() {
    // Quiet and signalling NaNs with payloads, both zeros, infinities, a subnormal.
    let bits = [0x7FC0_1234u32, 0x7FA0_0001, 0xFFC0_0000, 0x8000_0000, 0x7F80_0000, 1];
    let x: Vec<f32> = bits.iter().map(|&b| f32::from_bits(b)).collect();
    let y = Reverse::all().to_vec(&x, &[6]).unwrap();
    let back: Vec<u32> = y.iter().rev().map(|v| v.to_bits()).collect();
    assert_eq!(back, bits);
    // Integers that a detour through floats would round.
    let x = [i64::MAX, (1 << 53) + 1, 16_777_217, i64::MIN + 1];
    assert_eq!(
        ReverseSequence::new().lengths(&[4]).to_vec(&x, &[4, 1]).unwrap(),
        [x[3], x[2], x[1], x[0]]
    );
}

/// Counts how many are alive, to see that none is dropped twice or forgotten.
#[derive(Debug)]
struct Counted<'a>(&'a AtomicIsize, u32);

impl<'a> Counted<'a> {
    fn new(alive: &'a AtomicIsize, value: u32) -> Self {
        alive.fetch_add(1, Ordering::Relaxed);
        Counted(alive, value)
    }
}

impl Clone for Counted<'_> {
    fn clone(&self) -> Self {
        Counted::new(self.0, self.1)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn owned_elements_are_moved_or_cloned_never_duplicated() {
    let alive = AtomicIsize::new(0);
    let mut x: Vec<Counted<'_>> = (0..24).map(|n| Counted::new(&alive, n)).collect();
    let lanes = ReverseSubsequences::along(1);
    let lengths: Vec<u32> = (0..8).collect();
    let lanes = lanes.lengths(&lengths);

    let cloned = lanes.to_vec_cloned(&x, &[2, 3, 4]).unwrap();
    assert_eq!(alive.load(Ordering::Relaxed), 48);
    lanes.in_place(&mut x, &[2, 3, 4]).unwrap();
    assert_eq!(alive.load(Ordering::Relaxed), 48);
    let values = |list: &[Counted<'_>]| list.iter().map(|c| c.1).collect::<Vec<_>>();
    assert_eq!(values(&x), values(&cloned));
    let mut sorted = values(&x);
    sorted.sort_unstable();
    assert_eq!(sorted, (0..24).collect::<Vec<_>>());
    drop((x, cloned));
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

#[test]
fn nothing_is_cloned_when_the_call_is_wrong() {
    let alive = AtomicIsize::new(0);
    let x = [Counted::new(&alive, 1), Counted::new(&alive, 2)];
    assert!(Reverse::axes([1]).to_vec_cloned(&x, &[2]).is_err());
    assert_eq!(alive.load(Ordering::Relaxed), 2);
    // A bad length value is found before anything is swapped, and the clones are dropped.
    assert!(ReverseSequence::new().lengths(&[3]).to_vec_cloned(&x, &[2, 1]).is_err());
    assert_eq!(alive.load(Ordering::Relaxed), 2);
}

#[test]
fn uninitialised_outputs_are_filled() {
    let x: Vec<u32> = (0..60).collect();
    let mut out = vec![MaybeUninit::<u32>::uninit(); 60];
    Reverse::axes([0, 2]).apply_uninit(&x, &mut out, &[3, 4, 5]).unwrap();
    // SAFETY: the call succeeded, so every element has been written.
    let out: Vec<u32> = out.iter().map(|v| unsafe { v.assume_init() }).collect();
    assert_eq!(out, Reverse::axes([0, 2]).to_vec(&x, &[3, 4, 5]).unwrap());
    assert_eq!(out[0], x[2 * 20 + 4]);
}

#[test]
fn empty_and_zero_width_slices_are_fine() {
    assert_eq!(Reverse::all().to_vec(&[0u8; 0], &[0, 7]).unwrap(), []);
    assert_eq!(Reverse::axes([]).to_vec(&[5], &[]).unwrap(), [5]);
    assert_eq!(Reverse::all().to_vec(&[5], &[]).unwrap(), [5]);
    assert_eq!(Reverse::axes([1]).to_vec(&[(); 6], &[2, 3]).unwrap().len(), 6);
    let none: [i64; 0] = [];
    assert_eq!(ReverseSequence::new().lengths(&none).to_vec(&[0f32; 0], &[4, 0]).unwrap(), []);
    let lengths = [0i64; 3];
    assert_eq!(ReverseSequence::new().lengths(&lengths).to_vec(&[0u8; 0], &[0, 3]).unwrap(), []);
}

#[test]
fn lengths_of_any_integer_type_mean_the_same() {
    let x = [1, 2, 3, 4, 5, 6];
    let expected = [5, 4, 3, 2, 1, 6];
    let op = ReverseSequence::new();
    let shape = [3, 2];
    assert_eq!(op.lengths(&[3u8, 2]).to_vec(&x, &shape).unwrap(), expected);
    assert_eq!(op.lengths(&[3i8, 2]).to_vec(&x, &shape).unwrap(), expected);
    assert_eq!(op.lengths(&[3u16, 2]).to_vec(&x, &shape).unwrap(), expected);
    assert_eq!(op.lengths(&[3i16, 2]).to_vec(&x, &shape).unwrap(), expected);
    assert_eq!(op.lengths(&[3u32, 2]).to_vec(&x, &shape).unwrap(), expected);
    assert_eq!(op.lengths(&[3i32, 2]).to_vec(&x, &shape).unwrap(), expected);
    assert_eq!(op.lengths(&[3u64, 2]).to_vec(&x, &shape).unwrap(), expected);
    assert_eq!(op.lengths(&vec![3i64, 2]).to_vec(&x, &shape).unwrap(), expected);
    let huge = ReverseSubsequences::along(0);
    assert_eq!(huge.lengths(&[u64::MAX, 2]).to_vec(&x, &shape).unwrap(), expected);
    assert_eq!(huge.lengths(&[i64::MAX, 2]).to_vec(&x, &shape).unwrap(), expected);
}

#[test]
fn each_operator_has_its_own_default_policy() {
    let x = [1, 2, 3];
    let beyond = [4i64];
    assert!(matches!(
        ReverseSequence::new().lengths(&beyond).to_vec(&x, &[3, 1]),
        Err(Error::LengthOutOfRange { value: 4, limit: 3, .. })
    ));
    let clamp = ReverseSequence::new().policy(LengthPolicy::Clamp);
    assert_eq!(clamp.lengths(&beyond).to_vec(&x, &[3, 1]).unwrap(), [3, 2, 1]);
    let lanes = ReverseSubsequences::along(0);
    assert_eq!(lanes.lengths(&beyond).to_vec(&x, &[3]).unwrap(), [3, 2, 1]);
    assert!(lanes.policy(LengthPolicy::Strict).lengths(&beyond).to_vec(&x, &[3]).is_err());
}

#[test]
fn axes_come_from_tensors_of_any_integer_type_and_from_masks() {
    let x = [1, 2, 3, 4, 5, 6];
    let expected = [3, 2, 1, 6, 5, 4];
    let run = |mode, axes: TensorRef<'_>| {
        Reverse::from_tensor(mode, &axes).unwrap().to_vec(&x, &[2, 3]).unwrap()
    };
    let index = ReverseMode::Index;
    assert_eq!(run(index, TensorRef::from_slice(&[1u8, 1, 1, 1], &[4]).unwrap()), expected);
    assert_eq!(run(index, TensorRef::from_slice(&[-1i8], &[1]).unwrap()), expected);
    assert_eq!(run(index, TensorRef::from_slice(&[1u64], &[1]).unwrap()), expected);
    assert_eq!(run(index, TensorRef::from_slice(&[1i16, -1], &[2]).unwrap()), expected);
    assert_eq!(run(index, TensorRef::from_slice(&[0i64; 0], &[0]).unwrap()), x);
    let mask = TensorRef::from_slice(&[false, true], &[2]).unwrap();
    assert_eq!(run("mask".parse().unwrap(), mask), expected);
}

#[test]
fn passing_through_shares_the_input() {
    let x = [1, 2, 3, 4];
    let borrowed = |op: Reverse, shape: &[usize]| matches!(op.to_cow(&x, shape).unwrap(), Cow::Borrowed(same) if same.as_ptr() == x.as_ptr());
    assert!(borrowed(Reverse::axes([]), &[4]));
    assert!(borrowed(Reverse::mask([false, false]), &[2, 2]));
    assert!(borrowed(Reverse::axes([1]), &[4, 1]));
    assert!(!borrowed(Reverse::axes([0]), &[4]));
    // Lengths that steer nothing are still checked.
    assert!(ReverseSequence::new().lengths(&[0, 1, 2, 0]).to_cow(&x, &[1, 4]).is_err());
}

/// Segments of no more than `most` elements, in buffers of exactly their size: short ones are written by
/// whole vectors, which must neither be read nor written beyond it.
fn short_segments<T: Copy + PartialEq + std::fmt::Debug>(
    most: usize,
    element: impl Fn(usize) -> T,
) {
    for seed in 0..if cfg!(miri) { 2 } else { 8 } {
        let count = [1, 3, 40, 700][seed % 4] / if cfg!(miri) { 10 } else { 1 } + 1;
        let lengths = (0..count).map(|at| (at * 7919 + seed * 31 + at * at / 3) % (most + 1));
        let mut offsets = vec![0i32];
        offsets.extend(lengths.scan(0, |sum, length| {
            *sum += length as i32;
            Some(*sum)
        }));
        // What is behind the last segment stays.
        let len = offsets[count] as usize + seed % 3;
        let x: Vec<T> = (0..len).map(&element).collect();
        let mut wanted = x.clone();
        for pair in offsets.windows(2) {
            wanted[pair[0] as usize..pair[1] as usize].reverse();
        }
        every_way(|| {
            let segments = ReverseSegments::along(0).offsets(&offsets[..]);
            assert_eq!(segments.to_vec(&x, &[len]).unwrap(), wanted, "{most} {seed}");
        });
    }
}

#[test]
fn many_short_segments() {
    for most in [0, 1, 7, 63, 64, 65, 300] {
        short_segments(most, |at| (at * 151 + at / 7) as u8);
        short_segments(most, |at| (at * 40503) as u16);
        short_segments(most, |at| at as f32);
        short_segments(most / 4, |at| at as u64);
        short_segments(most / 4, |at| at as u128);
        short_segments(most / 4, |at| [at as u8, 1, 2]);
        short_segments(most / 4, |at| [at as u64; 5]);
    }
}
