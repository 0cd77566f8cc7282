//! The set of cases: generated from a seed, the same on every machine.
//!
//! A fault of one rule must show only in the cases of that rule. So ordinary cases have small
//! positive values, no axes of size 0 or 1, ranks up to 4, and lengths of the whole axis.

mod axes;
mod bits;
mod images;
mod lengths;
mod masks;
mod segments;
mod shapes;
mod tables;
mod values;

use crate::call::Call;
use crate::case::{Case, Expected};
use crate::extras::Extras;
use crate::reference;
use crate::tensor::Tensor;
use crate::types::{TYPES, Type, of};
use std::collections::HashMap;

/// The version of the set. Files of different versions are not comparable.
pub const VERSION: u32 = 1;

/// The seed of the set that is compared across runtimes.
pub const SEED: u64 = 1;

/// The types of cases that test movement. All of them are types of every operator.
const FEW: [&str; 3] = ["f32", "i64", "u8"];

/// The types of DirectML's operator at feature level 5.0.
pub const DIRECTML_TYPES: [&str; 11] =
    ["f32", "f16", "i32", "i16", "i8", "u32", "u16", "u8", "f64", "i64", "u64"];

/// One operator in its plainest form: the last axis, or the whole first axis by lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plain {
    Reverse,
    Flip,
    Sequence,
    AnyAxes,
    Subsequences,
    Segments,
}

impl Plain {
    const ALL: [Plain; 6] = [
        Plain::Reverse,
        Plain::Flip,
        Plain::Sequence,
        Plain::AnyAxes,
        Plain::Subsequences,
        Plain::Segments,
    ];
    const WITH_LENGTHS: [Plain; 3] = [Plain::Sequence, Plain::AnyAxes, Plain::Subsequences];

    /// The types that the operator lists.
    fn types(self) -> Vec<&'static Type> {
        let listed = |row: &&Type| match self {
            Plain::Reverse => row.openvino.is_some(),
            Plain::Sequence => reference::ONNX_TYPES.contains(&row.name) || row.name == "bf16",
            Plain::AnyAxes => !row.is_packed(),
            Plain::Subsequences => DIRECTML_TYPES.contains(&row.name),
            Plain::Flip | Plain::Segments => true,
        };
        TYPES.iter().filter(listed).collect()
    }

    /// The lowest rank that it takes.
    fn least_rank(self) -> usize {
        match self {
            Plain::Reverse | Plain::Flip | Plain::Subsequences | Plain::Segments => 1,
            Plain::Sequence | Plain::AnyAxes => 2,
        }
    }

    /// The call that reverses all of one axis of this shape.
    fn whole(self, shape: &[usize]) -> (Call, Tensor) {
        let last = shape.len() as i64 - 1;
        let axes = || Tensor::integers(of("i64"), &[last.into()]);
        match self {
            Plain::Reverse => (Call::Reverse { mask: false }, axes()),
            Plain::Flip => (Call::Flip, axes()),
            _ if self.has_lengths() => self.by(shape, &vec![self.size(shape); self.lanes(shape)]),
            _ => {
                let ends: &[i128] = if shape[0] == 0 { &[0] } else { &[0, shape[0] as i128] };
                (Call::Segments { axis: 0 }, Tensor::integers(of("i64"), ends))
            }
        }
    }

    fn has_lengths(self) -> bool {
        Plain::WITH_LENGTHS.contains(&self)
    }

    /// The size of the axis that lengths refer to.
    fn size(self, shape: &[usize]) -> i128 {
        let axis = if self == Plain::Subsequences { shape.len() - 1 } else { 0 };
        shape[axis] as i128
    }

    /// How many lengths there are.
    fn lanes(self, shape: &[usize]) -> usize {
        match self {
            Plain::Subsequences => shape[..shape.len() - 1].iter().product(),
            _ => shape[1],
        }
    }

    /// The call with these lengths, in the type that every runtime takes.
    fn by(self, shape: &[usize], lengths: &[i128]) -> (Call, Tensor) {
        let dtype = of(if self == Plain::Subsequences { "u32" } else { "i64" });
        self.typed(shape, dtype, lengths)
    }

    /// The call with these lengths.
    fn typed(self, shape: &[usize], dtype: &'static Type, lengths: &[i128]) -> (Call, Tensor) {
        let lengths = Tensor::integers(dtype, lengths);
        match self {
            Plain::Sequence => (Call::Sequence { time: 0, batch: 1 }, lengths),
            Plain::AnyAxes => (Call::AnySequence { time: 0, batch: 1 }, lengths),
            _ => {
                let axis = shape.len() - 1;
                let mut lanes = shape.to_vec();
                lanes[axis] = 1;
                (Call::Subsequences { axis: axis as i64 }, lengths.reshaped(&lanes))
            }
        }
    }
}

/// Collects cases and names them.
struct Maker {
    cases: Vec<Case>,
    names: HashMap<String, usize>,
    seed: u64,
    full: bool,
}

impl Maker {
    /// The types for a rule about movement: a few, or all that the operator lists.
    fn movement_types(&self, plain: Plain) -> Vec<&'static Type> {
        match self.full {
            true => plain.types(),
            false => FEW.iter().map(|name| of(name)).collect(),
        }
    }

    /// Ordinary values of a type, which depend on the seed and the number of cases so far.
    fn fill(&self, dtype: &'static Type, shape: &[usize]) -> Tensor {
        values::ordinary(dtype, shape, self.seed.wrapping_add(self.cases.len() as u64))
    }

    /// Adds a case that has a result.
    fn value(&mut self, rule: &'static str, input: Tensor, call: (Call, Tensor)) {
        self.value_with(rule, input, call, Extras::default());
    }

    /// Adds a case that must be refused.
    fn refusal(&mut self, rule: &'static str, input: Tensor, call: (Call, Tensor)) {
        self.refusal_with(rule, input, call, Extras::default());
    }

    /// Adds a case with a mask or a table that has a result.
    fn value_with(
        &mut self,
        rule: &'static str,
        input: Tensor,
        call: (Call, Tensor),
        extras: Extras,
    ) {
        let case = self.named(rule, input, call, extras);
        assert!(!case.is_refusal(), "a case of {rule} has no result: {:?}", case.expected);
        self.cases.push(case);
    }

    /// Adds a case with a mask or a table that must be refused.
    fn refusal_with(
        &mut self,
        rule: &'static str,
        input: Tensor,
        call: (Call, Tensor),
        extras: Extras,
    ) {
        let case = self.named(rule, input, call, extras);
        assert!(case.is_refusal(), "a case of {rule} is not refused: {}", case.line());
        self.cases.push(case);
    }

    /// A case with its name, and what must come back.
    fn named(
        &mut self,
        rule: &'static str,
        input: Tensor,
        (call, argument): (Call, Tensor),
        extras: Extras,
    ) -> Case {
        let expected = match reference::answer(&call, &input, &argument, &extras) {
            Ok(tensor) => Expected::Value(tensor),
            Err(reason) => Expected::Refusal(reason),
        };
        let sizes: Vec<_> = input.shape.iter().map(usize::to_string).collect();
        let sizes = if sizes.is_empty() { "scalar".to_owned() } else { sizes.join("x") };
        let stem = format!("{rule}.{}.{}.{sizes}", call.short(), input.dtype.name);
        let number = self.names.entry(stem.clone()).or_default();
        *number += 1;
        let id = format!("{stem}.{number}");
        Case { id, rule, call, input, argument, extras, expected }
    }
}

/// Every case of a seed. `full` has every type for every rule.
pub fn all(seed: u64, full: bool) -> Vec<Case> {
    let mut maker = Maker { cases: Vec::new(), names: HashMap::new(), seed, full };
    shapes::types(&mut maker);
    bits::make(&mut maker);
    shapes::make(&mut maker);
    axes::make(&mut maker);
    lengths::make(&mut maker);
    segments::make(&mut maker);
    images::make(&mut maker);
    masks::make(&mut maker);
    tables::make(&mut maker);
    maker.cases
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::RULES;
    use std::collections::HashSet;

    #[test]
    fn every_rule_has_cases_and_every_case_a_rule() {
        let cases = all(SEED, false);
        let used: HashSet<_> = cases.iter().map(|case| case.rule).collect();
        let known: HashSet<_> = RULES.iter().map(|rule| rule.id).collect();
        assert_eq!(used, known);
        let names: HashSet<_> = cases.iter().map(|case| &case.id).collect();
        assert_eq!(names.len(), cases.len());
        assert!(cases.len() > 1500, "{}", cases.len());
        let portable = |name: &str| {
            name.len() < 100
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.".contains(&b))
        };
        assert!(cases.iter().all(|case| portable(&case.id)));
    }

    #[test]
    fn the_set_is_the_same_each_time_and_full_holds_more() {
        assert_eq!(all(SEED, false), all(SEED, false));
        assert_ne!(all(SEED, false), all(SEED + 1, false));
        let ids = |cases: Vec<Case>| cases.into_iter().map(|case| case.id).collect::<Vec<_>>();
        assert_eq!(ids(all(SEED, false)), ids(all(SEED + 1, false)));
        let full: HashSet<_> = ids(all(SEED, true)).into_iter().collect();
        assert!(ids(all(SEED, false)).iter().all(|id| full.contains(id)));
    }
}
