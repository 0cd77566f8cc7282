//! A case: a call with its operands, the rule that it tests, and what must come back.

use crate::call::Call;
use crate::extras::Extras;
use crate::tensor::Tensor;
use serde_json::{Value, json};

/// What a runtime must do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// Return this tensor, bit for bit.
    Value(Tensor),
    /// Refuse the call, for this reason.
    Refusal(String),
}

/// One case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// Its stable name, which is also a file name.
    pub id: String,
    /// The id of its rule.
    pub rule: &'static str,
    /// The operator and its attributes.
    pub call: Call,
    /// The tensor to reverse.
    pub input: Tensor,
    /// Axes, lengths or offsets.
    pub argument: Tensor,
    /// A mask and a table.
    pub extras: Extras,
    /// What must come back.
    pub expected: Expected,
}

impl Case {
    /// The request of the protocol for this case.
    pub fn request(&self) -> Value {
        let mut request = json!({
            "id": self.id,
            "operator": self.call.operator(),
            "attributes": self.call.attributes(),
            "input": self.input.to_json(),
            self.call.argument_name(): self.argument.to_json(),
        });
        for (name, tensor) in self.extras.named() {
            request[name] = tensor.to_json();
        }
        request
    }

    /// What must come back, as JSON.
    pub fn expected_json(&self) -> Value {
        match &self.expected {
            Expected::Value(tensor) => json!({ "value": tensor.to_json() }),
            Expected::Refusal(reason) => json!({ "refused": reason }),
        }
    }

    /// Whether the call must be refused.
    pub fn is_refusal(&self) -> bool {
        matches!(self.expected, Expected::Refusal(_))
    }

    /// How large the case is, to find the smallest of several.
    pub fn size(&self) -> (usize, usize, usize) {
        (self.input.len(), self.argument.len(), self.input.byte_len())
    }

    /// The call in one line, such as `ReverseSequence(f32 [4, 3], lengths = [4, 0, 2])`.
    pub fn line(&self) -> String {
        let shown = |tensor: &Tensor| match tensor.len() {
            count if count > 16 => format!("{} {:?}", tensor.dtype.name, tensor.shape),
            count => {
                let texts: Vec<_> = (0..count).map(|at| tensor.text(at)).collect();
                format!("[{}]", texts.join(", "))
            }
        };
        let (operator, input) = (self.call.operator(), &self.input);
        let mut out = format!("{operator}({} {:?}", input.dtype.name, input.shape);
        let argument = (self.call.argument_name(), &self.argument);
        for (name, tensor) in [argument].into_iter().chain(self.extras.named()) {
            out += &format!(", {name} = {}", shown(tensor));
        }
        if let Value::Object(attributes) = self.call.attributes() {
            for (name, value) in attributes {
                out += &format!(", {name} = {value}");
            }
        }
        out + ")"
    }
}
