//! A call of an operator: which one, with which attributes.
//!
//! Operators that share a name in different texts but not their rules are different operators here.

use serde_json::{Value, json};

/// An operator, with its attributes. Axes, lengths and offsets are a tensor beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// OpenVINO Reverse-1: axes are a list of indices, or a mask.
    Reverse {
        /// `mode="mask"`.
        mask: bool,
    },
    /// A list of distinct axes: NumPy, PyTorch and JAX `flip`, TensorFlow ReverseV2, WebNN and
    /// StableHLO `reverse`.
    Flip,
    /// ONNX ReverseSequence: axes 0 and 1, int64 lengths.
    Sequence {
        /// The axis that is reversed.
        time: i64,
        /// The axis with a length for each entry.
        batch: i64,
    },
    /// ReverseSequence of TensorFlow, OpenVINO and TFLite: any two axes.
    AnySequence {
        /// The axis that is reversed.
        time: i64,
        /// The axis with a length for each entry.
        batch: i64,
    },
    /// DirectML ReverseSubsequences: a length for each lane.
    Subsequences {
        /// The axis that is reversed.
        axis: i64,
    },
    /// Segments of an axis, cut by offsets.
    Segments {
        /// The axis that is cut.
        axis: i64,
    },
    /// An image upright: EXIF's orientations. Its axes are those of rows and columns.
    Orient {
        /// The number, 1 to 8.
        orientation: i64,
    },
}

/// The names of all operators, as requests of the protocol have them.
pub const OPERATORS: [&str; 7] = [
    "Reverse",
    "Flip",
    "ReverseSequence",
    "ReverseSequenceAnyAxes",
    "ReverseSubsequences",
    "ReverseSegments",
    "Orient",
];

impl Call {
    /// The operator's name in the protocol.
    pub fn operator(&self) -> &'static str {
        OPERATORS[match self {
            Call::Reverse { .. } => 0,
            Call::Flip => 1,
            Call::Sequence { .. } => 2,
            Call::AnySequence { .. } => 3,
            Call::Subsequences { .. } => 4,
            Call::Segments { .. } => 5,
            Call::Orient { .. } => 6,
        }]
    }

    /// A short name for file names.
    pub fn short(&self) -> &'static str {
        match self {
            Call::Reverse { mask: false } => "reverse",
            Call::Reverse { mask: true } => "mask",
            Call::Flip => "flip",
            Call::Sequence { .. } => "sequence",
            Call::AnySequence { .. } => "anyaxes",
            Call::Subsequences { .. } => "subsequences",
            Call::Segments { .. } => "segments",
            Call::Orient { .. } => "orient",
        }
    }

    /// What the second operand is called.
    pub fn argument_name(&self) -> &'static str {
        match self {
            Call::Reverse { .. } | Call::Flip | Call::Orient { .. } => "axes",
            Call::Segments { .. } => "offsets",
            _ => "lengths",
        }
    }

    /// The attributes, as requests of the protocol have them.
    pub fn attributes(&self) -> Value {
        match *self {
            Call::Reverse { mask } => json!({ "mode": if mask { "mask" } else { "index" } }),
            Call::Flip => json!({}),
            Call::Sequence { time, batch } | Call::AnySequence { time, batch } => {
                json!({ "time_axis": time, "batch_axis": batch })
            }
            Call::Subsequences { axis } | Call::Segments { axis } => json!({ "axis": axis }),
            Call::Orient { orientation } => json!({ "orientation": orientation }),
        }
    }

    /// Reads a call from a request.
    pub fn from_json(request: &Value) -> Result<Call, String> {
        let attributes = &request["attributes"];
        let integer = |name: &str| {
            let value = attributes[name].as_i64();
            value.ok_or_else(|| format!("attribute {name:?} is not an integer"))
        };
        let axes = || Ok::<_, String>((integer("time_axis")?, integer("batch_axis")?));
        match request["operator"].as_str() {
            Some("Reverse") => Ok(Call::Reverse { mask: attributes["mode"] == "mask" }),
            Some("Flip") => Ok(Call::Flip),
            Some("ReverseSequence") => axes().map(|(time, batch)| Call::Sequence { time, batch }),
            Some("ReverseSequenceAnyAxes") => {
                axes().map(|(time, batch)| Call::AnySequence { time, batch })
            }
            Some("ReverseSubsequences") => Ok(Call::Subsequences { axis: integer("axis")? }),
            Some("ReverseSegments") => Ok(Call::Segments { axis: integer("axis")? }),
            Some("Orient") => Ok(Call::Orient { orientation: integer("orientation")? }),
            Some(other) => {
                Err(format!("no operator {other:?}, expected one of {}", OPERATORS.join(", ")))
            }
            None => Err("\"operator\" is not a string".to_owned()),
        }
    }
}
