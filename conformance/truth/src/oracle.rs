//! The oracle: the definitions of all operators, written as literally as possible.
//!
//! It imports nothing. For each position of the output, in row-major order, it returns the ordinal
//! of the input element (also in row-major order) that belongs there.

/// Every index of a tensor of this shape, in row-major order.
pub fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = Vec::new();
    for_each_index(shape, |index| all.push(index.to_vec()));
    all
}

/// Visits the same indices one by one, like an odometer.
pub fn for_each_index(shape: &[usize], mut visit: impl FnMut(&[usize])) {
    if shape.contains(&0) {
        return;
    }
    let mut index = vec![0; shape.len()];
    loop {
        visit(&index);
        let mut axis = shape.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
}

/// The position of an index in row-major order.
pub fn ordinal(shape: &[usize], index: &[usize]) -> usize {
    let mut position = 0;
    for axis in 0..shape.len() {
        position = position * shape[axis] + index[axis];
    }
    position
}

/// Reverse: along every axis marked in `flips`, the last element comes first.
pub fn reverse(shape: &[usize], flips: &[bool]) -> Vec<usize> {
    let mut sources = Vec::new();
    let mut source = shape.to_vec();
    for_each_index(shape, |index| {
        source.copy_from_slice(index);
        for axis in 0..shape.len() {
            if flips[axis] {
                source[axis] = shape[axis] - 1 - index[axis];
            }
        }
        sources.push(ordinal(shape, &source));
    });
    sources
}

/// In place of a source: the element becomes zero.
pub const ZERO: usize = usize::MAX;

/// Where the element at position `at` of an axis of `size` comes from, if `length` elements of it
/// are a sequence: at the start, or at the `end`. `None` if the position is outside the sequence.
fn in_sequence(at: usize, size: usize, length: usize, end: bool) -> Option<usize> {
    let start = if end { size - length } else { 0 };
    let is_inside = at >= start && at < start + length;
    is_inside.then(|| start + (start + length - 1 - at))
}

/// ReverseSequence: in batch entry `b`, the first `lengths[b]` time steps are reversed.
pub fn reverse_sequence(
    shape: &[usize],
    time_axis: usize,
    batch_axis: usize,
    lengths: &[usize],
) -> Vec<usize> {
    reverse_sequence_at(shape, time_axis, batch_axis, lengths, false, false)
}

/// The same with sequences at the start or `end` of the time axis. The other steps stay, or become
/// `zero`.
pub fn reverse_sequence_at(
    shape: &[usize],
    time_axis: usize,
    batch_axis: usize,
    lengths: &[usize],
    end: bool,
    zero: bool,
) -> Vec<usize> {
    let mut sources = Vec::new();
    let mut source = shape.to_vec();
    for_each_index(shape, |index| {
        let length = lengths[index[batch_axis]];
        source.copy_from_slice(index);
        match in_sequence(index[time_axis], shape[time_axis], length, end) {
            Some(from) => source[time_axis] = from,
            None if zero => return sources.push(ZERO),
            None => {}
        }
        sources.push(ordinal(shape, &source));
    });
    sources
}

/// ReverseSubsequences: in each lane along `axis`, the first `length` elements are reversed. The
/// lengths tensor has the input's shape with 1 at the axis, and is in row-major order.
pub fn reverse_subsequences(shape: &[usize], axis: usize, lengths: &[usize]) -> Vec<usize> {
    reverse_subsequences_at(shape, axis, lengths, false, false)
}

/// The same with subsequences at the start or `end` of the axis. The other elements stay, or become
/// `zero`.
pub fn reverse_subsequences_at(
    shape: &[usize],
    axis: usize,
    lengths: &[usize],
    end: bool,
    zero: bool,
) -> Vec<usize> {
    let mut lengths_shape = shape.to_vec();
    lengths_shape[axis] = 1;
    let mut sources = Vec::new();
    let (mut lane, mut source) = (shape.to_vec(), shape.to_vec());
    for_each_index(shape, |index| {
        lane.copy_from_slice(index);
        lane[axis] = 0;
        let length = lengths[ordinal(&lengths_shape, &lane)];
        source.copy_from_slice(index);
        match in_sequence(index[axis], shape[axis], length, end) {
            Some(from) => source[axis] = from,
            None if zero => return sources.push(ZERO),
            None => {}
        }
        sources.push(ordinal(shape, &source));
    });
    sources
}

/// ReverseSegments: segment `i` of the axis is `offsets[i]..offsets[i + 1]`, and reversed.
pub fn reverse_segments(shape: &[usize], axis: usize, offsets: &[usize]) -> Vec<usize> {
    let mut sources = Vec::new();
    let mut source = shape.to_vec();
    for_each_index(shape, |index| {
        source.copy_from_slice(index);
        for segment in 1..offsets.len() {
            let (start, end) = (offsets[segment - 1], offsets[segment]);
            if index[axis] >= start && index[axis] < end {
                source[axis] = start + end - 1 - index[axis];
            }
        }
        sources.push(ordinal(shape, &source));
    });
    sources
}

/// Orient: makes an image with this EXIF number upright. The rows and columns of the input are these
/// axes; of the output too, where their sizes are exchanged from number 5 on.
pub fn orient(shape: &[usize], rows: usize, columns: usize, exif: u8) -> Vec<usize> {
    let (height, width) = (shape[rows], shape[columns]);
    let mut sources = Vec::new();
    let mut source = shape.to_vec();
    for_each_index(&oriented(shape, rows, columns, exif), |index| {
        let (row, column) = (index[rows], index[columns]);
        source.copy_from_slice(index);
        (source[rows], source[columns]) = match exif {
            1 => (row, column),
            2 => (row, width - 1 - column),
            3 => (height - 1 - row, width - 1 - column),
            4 => (height - 1 - row, column),
            5 => (column, row),
            6 => (height - 1 - column, row),
            7 => (height - 1 - column, width - 1 - row),
            8 => (column, width - 1 - row),
            _ => panic!("no orientation has the number {exif}"),
        };
        sources.push(ordinal(shape, &source));
    });
    sources
}

/// The shape of the output of [`orient`].
pub fn oriented(shape: &[usize], rows: usize, columns: usize, exif: u8) -> Vec<usize> {
    let mut turned = shape.to_vec();
    if exif >= 5 {
        turned[rows] = shape[columns];
        turned[columns] = shape[rows];
    }
    turned
}

/// With a mask: what belongs to entry `entry_of(index)` stays if the mask is false there; what belongs to
/// none does too.
pub fn stay(
    shape: &[usize],
    sources: &mut [usize],
    mask: &[bool],
    entry_of: impl Fn(&[usize]) -> Option<usize>,
) {
    for_each_index(shape, |index| {
        let moves = entry_of(index).is_some_and(|entry| mask[entry]);
        if !moves {
            sources[ordinal(shape, index)] = ordinal(shape, index);
        }
    });
}

/// The first offset that is wrong: the first must be 0, none is smaller than the one before it or
/// larger than the axis.
pub fn first_bad_offset(offsets: &[i64], size: usize) -> Option<usize> {
    for at in 0..offsets.len() {
        let least = if at == 0 { 0 } else { offsets[at - 1] };
        let most = if at == 0 { 0 } else { size as i64 };
        if offsets[at] < least || offsets[at] > most {
            return Some(at);
        }
    }
    None
}
