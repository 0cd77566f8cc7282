//! Reverse complements: of reads, whose letters are one behind the other with offsets, and of one long
//! sequence of 2-bit bases.

use crate::cases::Random;
use crate::{Offer, Wanted, checked, copies};
use bio_seq::prelude::{Dna, ReverseComplementMut, Seq};
use needletail::Sequence;
use packed_seq::{PackedSeqVec, Seq as _, SeqVec as _, unpack_base};
use retrograde::prelude::*;
use retrograde::{DType, Layout, Table, TensorRef, cpu};
use retrograde_bench::call::Failure;
use retrograde_bench::rounds::{Sampled, alternate};
use std::cell::RefCell;
use std::hint::black_box;
use std::ops::Range;
use std::time::Duration;

/// Letters of a case.
const LETTERS: usize = 32 << 20;
/// The bases in the order of our 2-bit elements.
const BASES: &[u8; 4] = b"ACGT";

/// A case: letters of reads, and where each read begins.
pub(crate) struct Reads {
    pub(crate) name: &'static str,
    letters: Vec<u8>,
    offsets: Vec<i64>,
    is_packed: bool,
}

/// The cases with so many letters at most, and whole bytes of 2-bit bases.
pub(crate) fn all(most: usize) -> [Reads; 3] {
    let most = most.min(LETTERS) / 4 * 4;
    [
        Reads::of("reads of 100 to 150 letters", 100, 150, most),
        Reads::of("reads of 10,000 to 30,000 letters", 10_000, 30_000, most),
        Reads {
            name: "reads, one of 2-bit bases",
            letters: letters(BASES, most, &mut Random(20)),
            offsets: vec![0, most as i64],
            is_packed: true,
        },
    ]
}

impl Reads {
    fn of(name: &'static str, shortest: usize, longest: usize, most: usize) -> Reads {
        let (mut random, mut offsets, mut end) = (Random(20), vec![0], 0);
        while end + longest <= most {
            end += shortest + random.below((longest - shortest + 1) as u64) as usize;
            offsets.push(end as i64);
        }
        Reads { name, letters: letters(b"ACGTN", end, &mut random), offsets, is_packed: false }
    }

    /// The bytes of the case, and everybody's times on one thread.
    pub(crate) fn measure(&self, rounds: usize) -> Result<(usize, Vec<Sampled>), Failure> {
        let mut expected = vec![0; self.letters.len()];
        self.by_loop(&complements(), &mut expected);
        let packed = self.is_packed.then(|| pack(&self.letters));
        let src = packed.as_ref().unwrap_or(&self.letters);
        let offers = if self.is_packed { self.of_bases(src)? } else { self.of_letters()? };
        let dst = RefCell::new(vec![1; src.len()]);
        let mut contestants = copies(1, src, &dst);
        contestants.extend(checked(offers, &expected, self.name)?);
        Ok((src.len(), alternate(&mut contestants, rounds, Duration::from_millis(2))))
    }

    fn of_letters(&self) -> Result<Vec<Offer<'_>>, Failure> {
        let mut offers = ours(
            ReverseSegments::along(0).offsets(&self.offsets),
            Table::dna(),
            Layout::dense(DType::U8, &[self.letters.len()])?,
            &self.letters,
            <[u8]>::to_vec,
        )?;
        let (complements, mut out) = (complements(), vec![1; self.letters.len()]);
        let by_loop = move |wanted: Wanted| {
            self.by_loop(&complements, black_box(&mut out));
            Ok(wanted.then(|| out.clone()))
        };
        let new = move |read: &[u8]| read.iter().rev().map(|&x| complements[x as usize]).collect();
        let (new, needletail) = (self.each(new), self.each(|read| read.reverse_complement()));
        offers.extend([
            Offer { name: "loop", against: "memcpy", work: Box::new(by_loop) },
            Offer { name: "loop a Vec per read", against: "memcpy", work: Box::new(new) },
            Offer {
                name: "needletail a Vec per read",
                against: "memcpy",
                work: Box::new(needletail),
            },
        ]);
        Ok(offers)
    }

    fn of_bases<'a>(&self, src: &'a [u8]) -> Result<Vec<Offer<'a>>, Failure> {
        let layout = Layout::dense(DType::U2, &[self.letters.len()])?;
        let table = Table::quarters(&[3, 2, 1, 0]);
        let mut offers = ours(Reverse::all(), table, layout, src, unpack)?;
        let packed = PackedSeqVec::from_ascii(&self.letters);
        let packed_seq = move |wanted: Wanted| {
            let y = black_box(black_box(packed.as_slice()).to_revcomp());
            Ok(wanted.then(|| y.as_slice().iter_bp().map(unpack_base).collect()))
        };
        let original = Seq::<Dna>::try_from(&self.letters[..])?;
        let mut memory = original.clone();
        let bio_seq = move |wanted: Wanted| {
            if wanted == Wanted::Bytes {
                memory.clone_from(&original);
            }
            black_box(&mut memory).revcomp();
            Ok(wanted.then(|| memory.to_string().into_bytes()))
        };
        offers.extend([
            Offer { name: "packed-seq fresh", against: "memcpy fresh", work: Box::new(packed_seq) },
            Offer { name: "bio-seq in place", against: "memcpy", work: Box::new(bio_seq) },
        ]);
        Ok(offers)
    }

    /// Where each read is.
    fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.offsets.windows(2).map(|ends| ends[0] as usize..ends[1] as usize)
    }

    fn by_loop(&self, complements: &[u8; 256], out: &mut [u8]) {
        for read in self.ranges() {
            let letters = self.letters[read.clone()].iter().rev();
            for (to, &letter) in out[read].iter_mut().zip(letters) {
                *to = complements[letter as usize];
            }
        }
    }

    /// A new vector for each read, freed before the next.
    fn each(
        &self,
        one: impl Fn(&[u8]) -> Vec<u8>,
    ) -> impl FnMut(Wanted) -> Result<Option<Vec<u8>>, Failure> {
        move |wanted| {
            let mut found = Vec::new();
            for read in self.ranges() {
                let y = black_box(one(black_box(&self.letters[read])));
                if wanted == Wanted::Bytes {
                    found.extend(y);
                }
            }
            Ok(wanted.then(|| found))
        }
    }
}

/// Retrograde, planned once for memory used before and in place; `letters` gives those of a result.
fn ours<'a>(
    reversal: impl Reversal<'a> + 'a,
    table: Table,
    layout: Layout,
    src: &'a [u8],
    letters: fn(&[u8]) -> Vec<u8>,
) -> Result<Vec<Offer<'a>>, Failure> {
    let prepared = reversal.table(&table).prepare(&layout, &layout)?;
    let (again, mut out, mut memory) = (prepared.clone(), vec![1u8; src.len()], src.to_vec());
    let reused = move |wanted: Wanted| {
        cpu::with_threads(1, || prepared.run(black_box(src), &mut out[..]))?;
        Ok(wanted.then(|| letters(&out)))
    };
    let in_place = move |wanted: Wanted| {
        if wanted == Wanted::Bytes {
            memory.copy_from_slice(src);
        }
        cpu::with_threads(1, || again.run_in_place(black_box(&mut memory[..])))?;
        Ok(wanted.then(|| letters(&memory)))
    };
    let fresh = move |wanted: Wanted| {
        let src = TensorRef::new(layout.clone(), black_box(src))?;
        let y = cpu::with_threads(1, || reversal.table(&table).to_bytes(&src))?;
        let y = black_box(y);
        Ok(wanted.then(|| letters(&y)))
    };
    Ok(vec![
        Offer { name: "retrograde", against: "memcpy", work: Box::new(reused) },
        Offer { name: "retrograde in place", against: "memcpy", work: Box::new(in_place) },
        Offer { name: "retrograde fresh", against: "memcpy fresh", work: Box::new(fresh) },
    ])
}

fn letters(of: &[u8], count: usize, random: &mut Random) -> Vec<u8> {
    (0..count).map(|_| of[random.below(of.len() as u64) as usize]).collect()
}

/// The complement of each letter; other bytes stay.
fn complements() -> [u8; 256] {
    let mut complements = std::array::from_fn(|byte| byte as u8);
    for (&base, &complement) in BASES.iter().zip(b"TGCA") {
        complements[base as usize] = complement;
    }
    complements
}

/// Four bases to a byte, the first in the low bits.
fn pack(letters: &[u8]) -> Vec<u8> {
    let code = |letter: &u8| BASES.iter().position(|base| base == letter).unwrap_or(0) as u8;
    let byte = |four: &[u8]| four.iter().rev().fold(0, |byte, letter| byte << 2 | code(letter));
    letters.chunks(4).map(byte).collect()
}

fn unpack(packed: &[u8]) -> Vec<u8> {
    let bases = |byte: &u8| [0, 2, 4, 6].map(|shift| BASES[usize::from(byte >> shift & 3)]);
    packed.iter().flat_map(bases).collect()
}
