//! The words of a report: what the check of lengths found on the device. Needs no device.

use crate::params::REPORT_WORDS;
use retrograde::ExecuteError;

/// Where a report says which is the lowest invalid index so far: `LEAST` in `check.wgsl`.
const LEAST: usize = 7;
pub(crate) const WORDS: usize = REPORT_WORDS as usize;

/// What a report found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The number of the call ([`ListedLengths`](crate::ListedLengths)).
    pub call: u32,
    /// The first invalid length, or offset.
    pub error: ExecuteError,
}

/// The words of so many clear reports.
pub fn clear_reports(len: usize) -> Vec<u32> {
    let mut words = vec![0; len * WORDS];
    words.iter_mut().skip(LEAST).step_by(WORDS).for_each(|least| *least = u32::MAX);
    words
}

/// What is in a report; its words are those of `check.wgsl`.
pub fn read_report(words: &[u32]) -> Option<Finding> {
    let &[_, failed, ordinal, low_word, high_word, limit, low, _, is_signed, is_offset, call, ..] =
        words
    else {
        return None;
    };
    let value = u64::from(high_word) << 32 | u64::from(low_word);
    let value = match is_signed {
        0 => i128::from(value),
        _ => i128::from(value as i64),
    };
    let (ordinal, limit, low) = (ordinal as usize, limit as usize, low as usize);
    let error = match is_offset {
        0 => ExecuteError::LengthOutOfRange { ordinal, value, limit },
        _ => ExecuteError::OffsetOutOfRange { ordinal, value, low, high: limit },
    };
    (failed != 0).then_some(Finding { call, error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_clear_or_names_the_call_and_the_length() {
        let mut words = clear_reports(1);
        assert_eq!((words.len(), read_report(&words)), (WORDS, None));
        words[..11].copy_from_slice(&[1, 1, 4, u32::MAX, u32::MAX, 9, 0, u32::MAX, 1, 0, 6]);
        let error = ExecuteError::LengthOutOfRange { ordinal: 4, value: -1, limit: 9 };
        assert_eq!(read_report(&words), Some(Finding { call: 6, error }));
        assert_eq!(read_report(&words[..8]), None);
    }
}
