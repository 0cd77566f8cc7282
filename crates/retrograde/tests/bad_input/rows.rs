//! Tables of calls that must be refused, each with its variant and text. The tests of other crates
//! include this file.

use std::cell::RefCell;

thread_local! {
    /// How many rows of this test ran, and what was wrong.
    pub(crate) static ROWS: RefCell<(usize, Vec<String>)> = const { RefCell::new((0, Vec::new())) };
}

/// Rows of a table: a call, its variant, its text.
macro_rules! refused {
    ($($call:expr => $variant:pat, $text:expr;)+) => {$({
        let (result, call) = ($call.map(|_| ()), stringify!($call));
        crate::rows::row(match result {
            Ok(()) => Some(format!("{call} was accepted")),
            Err(error) if !matches!(error, $variant) => {
                Some(format!("{call}: {error:?} is not {}", stringify!($variant)))
            }
            Err(error) => (error.to_string() != $text)
                .then(|| format!("{call}:\n  {error}\nis not\n  {}", $text)),
        });
    })+};
}
pub(crate) use refused;

/// Counts a row, and keeps what was wrong with it.
pub(crate) fn row(wrong: Option<String>) {
    ROWS.with_borrow_mut(|(count, all)| {
        *count += 1;
        all.extend(wrong);
    });
}

/// A test for each group, with the number of its rows: one that did not run is a failure too.
macro_rules! groups {
    ($($name:ident: $group:path, $rows:literal;)*) => {$(
        #[test]
        fn $name() {
            $group();
            let (count, wrong) = crate::rows::ROWS.take();
            assert!(wrong.is_empty(), "{} of {count} rows:\n{}", wrong.len(), wrong.join("\n"));
            assert_eq!(count, $rows, "rows of the group");
        }
    )*};
}
pub(crate) use groups;
