//! The cases of all benchmarks, from `bench/cases.jsonl`: one case per line. The Python harnesses
//! read the same file.

use crate::call::{Failure, Operator};
use retrograde::{
    DType, Layout, LengthPolicy, LengthsOperator, Plan, Reverse, ReverseSequence,
    ReverseSubsequences,
};
use serde_json::Value;

/// The content of `bench/cases.jsonl`.
const LIST: &str = include_str!("../cases.jsonl");

/// Which program measures a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harness {
    /// `bench/run`.
    Cpu,
    /// `bench/rust-peers`.
    Rust,
    /// `bench/gpu` and `bench-gpu`, an example of `crates/cuda`.
    Cuda,
}

/// A benchmark case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The name in result files.
    pub name: String,
    /// The group under which results are listed.
    pub group: String,
    /// The element type.
    pub dtype: DType,
    /// The shape of the tensor.
    pub shape: Vec<usize>,
    /// The operator and its axes.
    pub operator: Operator,
    /// Whether the output is the input.
    pub in_place: bool,
    /// The offset of both buffers from an aligned address, in elements.
    pub offset: usize,
    /// Whether the last two axes of the input are transposed in memory.
    pub transposed: bool,
}

impl Harness {
    /// The cases that this program measures, in the order of the list.
    pub fn cases(self) -> Result<Vec<Case>, Failure> {
        let name = match self {
            Harness::Cpu => "cpu",
            Harness::Rust => "rust",
            Harness::Cuda => "cuda",
        };
        let mut cases = Vec::new();
        for line in LIST.lines() {
            let case: Value = serde_json::from_str(line)?;
            if strings(&case["in"]).any(|harness| harness == name) {
                cases.push(read(&case).ok_or_else(|| format!("no case: {line}"))?);
            }
        }
        Ok(cases)
    }
}

impl Case {
    /// The layout of the output.
    pub fn dense(&self) -> Result<Layout, Failure> {
        Ok(Layout::dense(self.dtype, &self.shape)?)
    }

    /// The offset of both buffers in bytes.
    pub fn offset_bytes(&self) -> u64 {
        self.offset as u64 * (self.dtype.bits().unwrap_or(8) as u64 / 8)
    }

    /// The plan, and random lengths if the operator has any. Strict, so that their check is part of
    /// the time.
    pub fn plan(&self) -> Result<(Plan, Option<Vec<u8>>), Failure> {
        let dense = self.dense()?;
        let input = match self.transposed {
            true => {
                // In memory, the last two sizes are swapped.
                let last = self.shape.len() - 1;
                let mut stored = self.shape.clone();
                stored.swap(last, last - 1);
                let mut order: Vec<usize> = (0..=last).collect();
                order.swap(last, last - 1);
                Layout::dense(self.dtype, &stored)?.permuted(&order)?
            }
            false => dense.clone(),
        };
        Ok(match self.operator.clone() {
            Operator::Reverse(axes) => (Reverse::axes(axes).plan(&input, &dense)?, None),
            Operator::Sequence { time, batch } => {
                let count = self.shape[batch as usize];
                let lanes = Layout::dense(DType::I64, &[count])?;
                let operator = ReverseSequence::new()
                    .time_axis(time)
                    .batch_axis(batch)
                    .policy(LengthPolicy::Strict);
                let given = lengths(count, self.shape[time as usize]);
                (operator.plan(&input, &lanes, &dense)?, Some(given))
            }
            Operator::Subsequences(axis) => {
                let mut shape = self.shape.clone();
                let most = std::mem::replace(&mut shape[axis as usize], 1);
                let lanes = Layout::dense(DType::I64, &shape)?;
                let operator = ReverseSubsequences::along(axis).policy(LengthPolicy::Strict);
                let given = lengths(shape.iter().product(), most);
                (operator.plan(&input, &lanes, &dense)?, Some(given))
            }
        })
    }
}

/// Random lengths from 0 to the size of the axis, as 64-bit integers.
pub fn lengths(count: usize, most: usize) -> Vec<u8> {
    let mut state = 42u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % (most as u64 + 1)
    };
    (0..count).flat_map(|_| next().to_ne_bytes()).collect()
}

/// A MiB of noise to fill buffers with: zeros may be copied faster than other data.
pub fn noise() -> Vec<u8> {
    (0..1usize << 20).map(|i| (i.wrapping_mul(2654435761) >> 13) as u8).collect()
}

fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn read(case: &Value) -> Option<Case> {
    let text = |field: &str| Some(case[field].as_str()?.to_owned());
    let numbers = |field: &str| {
        let numbers = case[field].as_array()?.iter().map(Value::as_u64);
        numbers.collect::<Option<Vec<_>>>()
    };
    let flag = |field: &str| case[field].as_bool().unwrap_or(false);
    let axes: Vec<_> = numbers("axes")?.into_iter().map(|axis| axis as i64).collect();
    let operator = match (case["operator"].as_str()?, &axes[..]) {
        ("reverse", _) => Operator::Reverse(axes),
        ("sequence", &[time, batch]) => Operator::Sequence { time, batch },
        ("subsequences", &[axis]) => Operator::Subsequences(axis),
        _ => return None,
    };
    Some(Case {
        name: text("name")?,
        group: text("group")?,
        dtype: text("dtype")?.parse().ok()?,
        shape: numbers("shape")?.into_iter().map(|size| size as usize).collect(),
        operator,
        in_place: flag("in_place"),
        offset: case["offset"].as_u64().unwrap_or(0) as usize,
        transposed: flag("transposed"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// The names that a GPU case may have.
    fn names(case: &Case) -> [String; 2] {
        let place = match (case.in_place, case.group.as_str()) {
            (true, _) => "in place: ",
            (false, "small") => "small: ",
            _ => "",
        };
        let sizes: Vec<_> = case.shape.iter().map(usize::to_string).collect();
        let shape = match case.shape[..] {
            [0x4000_0000] => "1 GiB".to_owned(),
            _ => format!("[{}]", sizes.join(",")),
        };
        let (word, axes, more) = match &case.operator {
            Operator::Reverse(_) if sizes.len() == 1 => ("flip", String::new(), String::new()),
            Operator::Reverse(axes) if axes.len() == 2 => ("flip", " both".into(), String::new()),
            Operator::Reverse(axes) => ("flip", format!(" axis {}", axes[0]), String::new()),
            Operator::Sequence { time, batch } => {
                ("sequence", format!(" time {time}"), format!(" batch {batch}"))
            }
            Operator::Subsequences(axis) => ("lanes", format!(" axis {axis}"), String::new()),
        };
        let mut end = String::new();
        if case.offset > 0 {
            end = format!(", base + {}", case.offset);
        } else if case.transposed {
            end = ", transposed in".to_owned();
        }
        let start = format!("{place}{word} {} {shape}{axes}", case.dtype);
        [format!("{start}{end}"), format!("{start}{more}{end}")]
    }

    #[test]
    fn every_line_is_a_case_of_some_harness() {
        let all = [Harness::Cpu, Harness::Rust, Harness::Cuda].map(|one| one.cases().unwrap());
        let [cpu, rust, cuda] = &all;
        assert!(rust.iter().all(|case| cpu.contains(case)));
        assert_eq!(cpu.len() + cuda.len(), LIST.lines().count());
        for cases in &all {
            let names: HashSet<_> = cases.iter().map(|case| (&case.group, &case.name)).collect();
            assert_eq!(names.len(), cases.len(), "two of one name");
            for case in cases {
                let rank = case.shape.len() as i64;
                let inside = |axis: &i64| (0..rank).contains(axis);
                let is_right = match &case.operator {
                    Operator::Reverse(axes) => axes.iter().all(inside),
                    Operator::Sequence { time, batch } => {
                        inside(time) && inside(batch) && time != batch
                    }
                    Operator::Subsequences(axis) => inside(axis),
                };
                assert!(is_right, "{}", case.name);
            }
        }
    }

    #[test]
    fn names_on_a_gpu_say_what_the_cases_are() {
        let cases = Harness::Cuda.cases().unwrap();
        assert!(cases.len() >= 64, "{}", cases.len());
        for case in cases {
            assert!(names(&case).contains(&case.name), "{case:?}: {:?}", names(&case));
        }
    }
}
