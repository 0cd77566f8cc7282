//! The oracle: the three definitions, written as literally as possible.
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

/// ReverseSequence: in batch entry `b`, the first `lengths[b]` time steps are reversed.
pub fn reverse_sequence(
    shape: &[usize],
    time_axis: usize,
    batch_axis: usize,
    lengths: &[usize],
) -> Vec<usize> {
    let mut sources = Vec::new();
    let mut source = shape.to_vec();
    for_each_index(shape, |index| {
        let length = lengths[index[batch_axis]];
        source.copy_from_slice(index);
        if index[time_axis] < length {
            source[time_axis] = length - 1 - index[time_axis];
        }
        sources.push(ordinal(shape, &source));
    });
    sources
}

/// ReverseSubsequences: in each lane along `axis`, the first `length` elements are reversed. The
/// lengths tensor has the input's shape with 1 at the axis, and is in row-major order.
pub fn reverse_subsequences(shape: &[usize], axis: usize, lengths: &[usize]) -> Vec<usize> {
    let mut lengths_shape = shape.to_vec();
    lengths_shape[axis] = 1;
    let mut sources = Vec::new();
    let (mut lane, mut source) = (shape.to_vec(), shape.to_vec());
    for_each_index(shape, |index| {
        lane.copy_from_slice(index);
        lane[axis] = 0;
        let length = lengths[ordinal(&lengths_shape, &lane)];
        source.copy_from_slice(index);
        if index[axis] < length {
            source[axis] = length - 1 - index[axis];
        }
        sources.push(ordinal(shape, &source));
    });
    sources
}
