//! `retrograde bench` measures and prints what it ran. The speed itself is not tested.

use super::*;

/// Runs the command on a tiny tensor, as briefly as possible.
fn measured(arguments: &[&str]) -> String {
    let all: Vec<_> = ["bench", "--seconds", "0"].iter().chain(arguments).copied().collect();
    shown(&all)
}

#[test]
fn every_operator_has_a_table_and_a_plan() {
    let cases: &[(&[&str], &str)] = &[
        (&["--shape", "4,8"], "Reverse  f32 [4, 8]  axes [-1]  128 bytes  "),
        (&["--shape=5", "--dtype=u4", "--axes=0"], "Reverse  u4 [5]  axes [0]  3 bytes  "),
        (
            &["--shape", "6,4,2", "--dtype", "u8", "--op", "reverse-sequence"],
            "ReverseSequence  u8 [6, 4, 2]  time axis 0, batch axis 1  48 bytes  ",
        ),
        (
            &["--shape", "3,4", "--dtype", "bytes12", "--op", "reverse-subsequences", "--axis=-2"],
            "ReverseSubsequences  bytes12 [3, 4]  axis -2  144 bytes  ",
        ),
    ];
    for (arguments, headline) in cases {
        let text = measured(&[arguments, &["--threads", "1"][..]].concat());
        assert!(text.starts_with(&format!("{headline}1 thread\n")), "{text}");
        for heading in ["GB/s", "of memcpy", "p10 to p90", "plan  reverse"] {
            assert!(text.contains(heading), "{text}");
        }
        for row in [
            "memcpy, reused output",
            "reversed, reused output",
            "memcpy, fresh output",
            "reversed, fresh output",
            "reversed, in place",
        ] {
            assert!(text.contains(row), "{row}: {text}");
        }
    }
}

#[test]
fn copies_run_on_all_threads_and_on_one() {
    let text = measured(&["--shape", "4,8", "--threads", "2"]);
    for row in ["memcpy, reused output", "memcpy on one thread, reused output"] {
        assert!(text.contains(row), "{row}: {text}");
    }
}

#[test]
fn a_sweep_has_a_line_for_each_size() {
    let text = measured(&["--sweep", "--shape", "1,300", "--dtype", "u8"]);
    assert!(text.starts_with("Reverse  u8 [N, 300]  axes [-1]  "), "{text}");
    let sizes = text.lines().filter(|line| line.contains("iB ")).count();
    assert_eq!(sizes, 15, "{text}");
}

#[test]
fn nothing_to_move_is_no_trouble() {
    assert!(measured(&["--shape", "0,3"]).contains("plan  nothing to move"));
    assert!(measured(&["--shape", "0,3", "--op", "reverse-sequence"]).contains("plan  nothing"));
}

#[test]
fn what_cannot_be_measured_is_said_in_one_line() {
    let cases: &[(&[&str], &str)] = &[
        (&["--axis", "0"], "--axis belongs to --op reverse-subsequences, not to reverse"),
        (
            &["--op=reverse-sequence", "--axes=0"],
            "--axes belongs to --op reverse, not to reverse-sequence",
        ),
        (
            &["--shape", "4", "--axes", "1"],
            "Reverse: axes[0] is 1, outside [-1, 0] for a tensor of rank 1",
        ),
        (
            &["--shape", "4", "--op", "reverse-sequence"],
            "ReverseSequence: input has rank 1, expected at least 2",
        ),
        (&["--seconds=-1"], "--seconds -1: expected a time"),
        (
            &["--shape", "4294967296,4294967296"],
            "shape [4294967296, 4294967296] of f32 needs more than 9223372036854775807 bytes",
        ),
    ];
    for (arguments, message) in cases {
        let all: Vec<_> = ["bench"].iter().chain(*arguments).copied().collect();
        let stderr = format!("error: {message}\n");
        let expected = Outcome { code: Some(1), stdout: String::new(), stderr };
        assert_eq!(run(command(&repository(), &all)), expected, "{arguments:?}");
    }
}
