//! Selects the indices along an axis that are shown.

/// Indices in ascending order; `None` stands for indices that are not shown.
pub(crate) type Window = Vec<Option<usize>>;

/// Beyond these limits, only the first and last few are shown.
const MOST_ROWS: usize = 12;
const MOST_COLUMNS: usize = 32;
const MOST_BLOCKS: usize = 6;
/// How many are shown at each end, as in NumPy.
const EDGE: usize = 3;

/// All indices.
pub(crate) fn all(size: usize) -> Window {
    (0..size).map(Some).collect()
}

pub(crate) fn rows(size: usize) -> Window {
    if size <= MOST_ROWS { all(size) } else { edges(size, EDGE) }
}

pub(crate) fn blocks(count: usize) -> Window {
    if count <= MOST_BLOCKS { all(count) } else { edges(count, EDGE) }
}

/// The possible selections of columns, widest first.
pub(crate) fn candidates(size: usize) -> impl Iterator<Item = Window> {
    let whole = (size <= MOST_COLUMNS).then(|| all(size));
    let parts = (1..=EDGE).rev().filter(move |edge| 2 * edge + 1 < size);
    whole.into_iter().chain(parts.map(move |edge| edges(size, edge)))
}

/// The first and last `edge` indices.
fn edges(size: usize, edge: usize) -> Window {
    let first = (0..edge).map(Some);
    let last = (size - edge..size).map(Some);
    first.chain([None]).chain(last).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_axes_show_their_ends() {
        assert_eq!(rows(12).len(), 12);
        assert_eq!(rows(13), [Some(0), Some(1), Some(2), None, Some(10), Some(11), Some(12)]);
        assert_eq!(blocks(7).len(), 7);
        let lengths = |size| candidates(size).map(|window| window.len()).collect::<Vec<_>>();
        assert_eq!(lengths(1), [1]);
        assert_eq!(lengths(4), [4, 3]);
        assert_eq!(lengths(32), [32, 7, 5, 3]);
        assert_eq!(lengths(usize::MAX), [7, 5, 3]);
    }
}
