//! The two benchmark programs, in Rust and in Python, have the same cases, which are matched by
//! name.

const RUST: &str = include_str!("../examples/bench-gpu.rs");
const PYTHON: &str = include_str!("../../../bench/gpu/cases.py");

#[test]
fn both_have_the_same_cases() {
    let is_name = |text: &&str| {
        let operator = text.trim_start_matches("in place: ").trim_start_matches("small: ");
        ["flip ", "sequence ", "lanes "].iter().any(|word| operator.starts_with(word))
            && operator.contains(['[', 'G'])
    };
    // In Rust they are string literals, in Python separate lines.
    let mut rust: Vec<&str> = RUST.split('"').skip(1).step_by(2).filter(is_name).collect();
    let mut python: Vec<&str> = PYTHON.lines().filter(is_name).collect();
    rust.sort_unstable();
    python.sort_unstable();
    assert!(rust.len() >= 64, "{}", rust.len());
    assert_eq!(rust, python);
}
