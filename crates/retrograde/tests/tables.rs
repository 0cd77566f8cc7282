//! Tables: what is reversed is looked up, and nothing else. Compared with a naive table, on every
//! instruction set, with one part and many, out of place and in place, in bytes and packed elements.

use retrograde::cpu::{Isa, Tuning};
use retrograde::{
    Align, DType, Reversal, Reverse, ReverseSegments, ReverseSequence, ReverseSubsequences, Table,
    TensorMut, TensorRef,
};

/// Numbers of a linear congruence.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

/// Elements, their table and their type.
struct Elements {
    dtype: DType,
    bits: usize,
    entries: Vec<u8>,
    values: Vec<u8>,
}

impl Elements {
    fn draw(dice: &mut Dice, bits: usize, len: usize) -> Self {
        let dtype = [DType::U2, DType::U4, DType::U8][bits.ilog2() as usize - 1];
        let mut entries: Vec<u8> = (0..1 << bits).map(|at| at as u8).collect();
        // All of them change, or a few, or letters.
        match dice.below(3) {
            0 => entries.iter_mut().for_each(|entry| *entry = dice.below(1 << bits) as u8),
            1 => {
                let at = dice.below(1 << bits);
                entries[at] = dice.below(1 << bits) as u8;
            }
            _ if bits == 8 => {
                for (from, to) in b"ACGTacgtNn".iter().zip(b"TGCAtgcaNn") {
                    entries[usize::from(*from)] = *to;
                }
            }
            _ => entries.reverse(),
        }
        let values = (0..len).map(|_| dice.below(1 << bits) as u8).collect();
        Elements { dtype, bits, entries, values }
    }

    fn packed(&self, values: &[u8]) -> Vec<u8> {
        let join = |some: &[u8]| {
            some.iter().rev().fold(0u32, |byte, value| byte << self.bits | u32::from(*value)) as u8
        };
        values.chunks(8 / self.bits).map(join).collect()
    }

    /// Element `at` of the result comes from `source(at)`; `None` if it is not reversed.
    fn want(&self, source: impl Fn(usize) -> Option<usize>) -> Vec<u8> {
        let of = |at: usize| match source(at) {
            Some(from) => self.entries[usize::from(self.values[from])],
            None => self.values[at],
        };
        self.packed(&(0..self.values.len()).map(of).collect::<Vec<_>>())
    }

    fn same<'a>(&self, reversal: &impl Reversal<'a>, shape: &[usize], want: &[u8]) {
        let table = Table::new(&self.entries).unwrap();
        let input = self.packed(&self.values);
        let x = TensorRef::dense(self.dtype, &input[..], shape).unwrap();
        let eager = Tuning { stream_from: Some(0), ..Tuning::default() };
        let shared = Tuning { share_from: 0, wake_from: 0, least_part: 1, ..eager };
        for isa in Isa::available() {
            isa.force();
            for tuning in [Tuning::default(), shared] {
                tuning.apply();
                let with = reversal.table(&table);
                assert_eq!(with.to_bytes(&x).unwrap(), want, "{isa:?} {}", self.dtype);
                let mut memory = input.clone();
                let mut view = TensorMut::dense(self.dtype, &mut memory[..], shape).unwrap();
                with.in_place_view(&mut view).unwrap();
                assert_eq!(memory, want, "{isa:?} {} in place", self.dtype);
            }
        }
        Tuning::default().apply();
    }
}

#[test]
fn what_is_reversed_is_looked_up() {
    let mut dice = Dice(11);
    let (rounds, most, segments) = match cfg!(miri) {
        true => (6, [1, 12, 40], [3, 10, 30]),
        false => (90, [1, 30, 700], [3, 50, 1500]),
    };
    for round in 0..rounds {
        let bits = [8, 8, 4, 2][round % 4];
        let (rows, len) = (dice.below(12), 1 + dice.below(most[round % 3]));
        let (elements, shape) = (Elements::draw(&mut dice, bits, rows * len), [rows, len]);
        let lengths: Vec<i64> = (0..rows).map(|_| dice.below(len + 1) as i64).collect();
        let length = |row: usize| lengths[row] as usize;
        let batch = ReverseSequence::new().time_axis(1).batch_axis(0);

        let want = elements.want(|at| Some(at / len * len + len - 1 - at % len));
        elements.same(&Reverse::axes([1]), &shape, &want);
        let first = |at: usize| {
            let (row, step) = (at / len, at % len);
            (step < length(row)).then(|| row * len + length(row) - 1 - step)
        };
        let want = elements.want(first);
        elements.same(&batch.lengths(&lengths), &shape, &want);
        let last = |at: usize| {
            let (row, step) = (at / len, at % len);
            let start = len - length(row);
            (step >= start).then(|| row * len + start + len - 1 - step)
        };
        let want = elements.want(last);
        elements.same(&batch.clone().align(Align::End).lengths(&lengths), &shape, &want);
        // Columns, of which each has its own length.
        let column = |at: usize| {
            let (step, row) = (at / rows.max(1), at % rows.max(1));
            (step < length(row)).then(|| (length(row) - 1 - step) * rows + row)
        };
        let want = elements.want(column);
        elements.same(&ReverseSubsequences::along(0).lengths(&lengths), &[len, rows], &want);
        let mask: Vec<bool> = (0..rows).map(|_| dice.below(2) == 1).collect();
        let want = elements.want(|at| first(at).filter(|_| mask[at / len]));
        elements.same(&batch.lengths(&lengths).where_(&mask), &shape, &want);

        let count = dice.below(segments[round % 3]);
        let total = rows * len;
        let mut offsets: Vec<usize> = (0..count).map(|_| dice.below(total + 1)).collect();
        offsets.sort_unstable();
        offsets.insert(0, 0);
        let mask: Vec<bool> = (0..count).map(|_| dice.below(2) == 1).collect();
        let segment = |at: usize| {
            let pair = offsets.windows(2).position(|pair| (pair[0]..pair[1]).contains(&at))?;
            Some((pair, offsets[pair] + offsets[pair + 1] - 1 - at))
        };
        let bounds: Vec<u64> = offsets.iter().map(|&offset| offset as u64).collect();
        let cut = ReverseSegments::along(0).offsets(&bounds);
        let want = elements.want(|at| segment(at).map(|(_, from)| from));
        elements.same(&cut, &[total], &want);
        let want =
            elements.want(|at| segment(at).filter(|(pair, _)| mask[*pair]).map(|(_, from)| from));
        elements.same(&cut.where_(&mask), &[total], &want);
    }
}

#[test]
fn elements_that_keep_their_place_are_looked_up_too() {
    let table = Table::dna();
    let x = TensorRef::from_slice(b"ACGU-n", &[6, 1]).unwrap();
    let lanes = ReverseSubsequences::along(1).lengths(&[1u8, 0, 1, 1, 1, 0]);
    assert_eq!(lanes.table(&table).to_bytes(&x).unwrap(), b"TCCA-n");
    assert_eq!(Reverse::axes([]).table(&table).to_bytes(&x).unwrap(), b"TGCA-n");
    let one = TensorRef::from_slice(b"A", &[1]).unwrap();
    let cut = ReverseSegments::along(0);
    assert_eq!(cut.offsets(&[0, 1]).table(&table).to_bytes(&one).unwrap(), b"T");
    assert_eq!(cut.offsets(&[0]).table(&table).to_bytes(&one).unwrap(), b"A");
    let rna = Table::rna();
    assert_eq!(Reverse::all().table(&rna).to_bytes(&one).unwrap(), b"U");
}

#[test]
fn a_prepared_call_and_its_pieces_look_up() {
    let (most, some) = if cfg!(miri) { (1_200, 250) } else { (100_000, 999) };
    for shape in [[most, 1], [most + 1, 1], [5, 1], [3, most], [1, most], [7, some]] {
        looks_up_in_pieces(&shape);
    }
}

/// Reverses rows: the one in the middle keeps its place, and is looked up too.
fn looks_up_in_pieces(shape: &[usize; 2]) {
    let [rows, columns] = *shape;
    let x: Vec<u8> = (0..rows * columns).map(|at| b"ACGT"[at * 7 % 4]).collect();
    let view = TensorRef::from_slice(&x[..], shape).unwrap();
    let table = Table::dna();
    let reversal = Reverse::axes([0]);
    let with = reversal.table(&table);
    let prepared = with.prepare(view.layout(), view.layout()).unwrap();
    let want: Vec<u8> = x
        .chunks(columns)
        .rev()
        .flatten()
        .map(|letter| b"TGCA"[b"ACGT".iter().position(|l| l == letter).unwrap()])
        .collect();
    let mut y = vec![0; x.len()];
    prepared.run(&x[..], &mut y[..]).unwrap();
    assert_eq!(y, want);
    y.fill(0);
    for piece in prepared.check().unwrap().pieces(1000) {
        piece.execute(&x[..], &mut y[..]).unwrap();
    }
    assert_eq!(y, want);
    y.copy_from_slice(&x);
    for piece in prepared.check().unwrap().pieces_in_place(1000) {
        piece.execute_in_place(&mut y[..]).unwrap();
    }
    assert_eq!(y, want, "{shape:?}");
}
