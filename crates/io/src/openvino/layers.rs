//! Layers: which operators are supported, and how their attributes and inputs become an operator
//! of the common form.

use super::xml::Layer;
use crate::graph::{Function, GraphError, Masks, NodeName, Op, Source};
use crate::words::short;
use retrograde::{DType, ReverseMode};

/// The operators that are supported.
const OPERATORS: [&str; 25] = [
    "Add",
    "Broadcast",
    "Concat",
    "Convert",
    "Equal",
    "Gather",
    "GatherElements",
    "GatherND",
    "Greater",
    "GreaterEqual",
    "Less",
    "LessEqual",
    "Multiply",
    "Range",
    "Reshape",
    "Reverse",
    "ReverseSequence",
    "Select",
    "ShapeOf",
    "Slice",
    "Squeeze",
    "StridedSlice",
    "Subtract",
    "Transpose",
    "Unsqueeze",
];

/// Whether the operator is supported.
pub(super) fn is_known(layer: &Layer) -> bool {
    layer.version.starts_with("opset") && OPERATORS.contains(&layer.kind.as_str())
}

/// The attributes of a layer.
struct Attributes<'a> {
    layer: &'a Layer,
    name: &'a NodeName,
}

impl Attributes<'_> {
    fn text(&self, key: &str) -> Option<&str> {
        self.layer.data.get(key).map(String::as_str)
    }

    fn wrong(&self, key: &str, expected: &'static str) -> GraphError {
        let value = match self.text(key) {
            Some(text) => format!("{:?}", short(text)),
            None => "missing".to_owned(),
        };
        GraphError::attribute(self.name, key, value, expected)
    }

    fn integer(&self, key: &str, default: Option<i64>) -> Result<i64, GraphError> {
        match (self.text(key), default) {
            (None, Some(default)) => Ok(default),
            (text, _) => {
                let number = text.and_then(|text| text.trim().parse().ok());
                number.ok_or_else(|| self.wrong(key, "an integer"))
            }
        }
    }

    fn truth(&self, key: &str) -> Result<bool, GraphError> {
        match self.text(key).map(str::trim) {
            None | Some("false" | "0") => Ok(false),
            Some("true" | "1") => Ok(true),
            Some(_) => Err(self.wrong(key, "true or false")),
        }
    }

    /// A type; `default` if there is none.
    fn dtype(&self, key: &str, default: Option<DType>) -> Result<DType, GraphError> {
        let found = self.text(key).map_or(default, DType::from_openvino);
        found.ok_or_else(|| self.wrong(key, "a type that retrograde has"))
    }

    /// A list of flags, such as `1,0,0`.
    fn mask(&self, key: &str) -> Result<Vec<bool>, GraphError> {
        let text = self.text(key).unwrap_or("").trim();
        let flag = |entry: &str| match entry.trim() {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        };
        let entries =
            if text.is_empty() { Some(vec![]) } else { text.split(',').map(flag).collect() };
        entries.ok_or_else(|| self.wrong(key, "flags such as 1,0"))
    }
}

/// The operator of a layer, and its operands from those that its ports are connected to.
pub(super) fn operator(
    layer: &Layer,
    name: &NodeName,
    mut inputs: Vec<Source>,
) -> Result<(Op, Vec<Source>), GraphError> {
    let attributes = Attributes { layer, name };
    let op = match layer.kind.as_str() {
        "Reverse" => {
            let mode = attributes.text("mode").unwrap_or("");
            let mode = mode.parse::<ReverseMode>().map_err(|source| GraphError::Node {
                node: name.clone(),
                source: Box::new(source.into()),
            });
            Op::Reverse(mode?)
        }
        "ReverseSequence" => Op::Sequence {
            time: attributes.integer("seq_axis", Some(1))?,
            batch: attributes.integer("batch_axis", Some(0))?,
            opset: None,
        },
        "Convert" => Op::Cast(attributes.dtype("destination_type", None)?),
        "Slice" => {
            // OpenVINO has the steps before the axes, and requires them.
            match inputs.len() {
                5 => inputs.swap(3, 4),
                4 => inputs.insert(3, Source::Absent),
                given => return Err(GraphError::inputs(name, given, "4 to 5")),
            }
            Op::Slice
        }
        "StridedSlice" => Op::StridedSlice(Box::new(Masks {
            begin: attributes.mask("begin_mask")?,
            end: attributes.mask("end_mask")?,
            new_axis: attributes.mask("new_axis_mask")?,
            shrink_axis: attributes.mask("shrink_axis_mask")?,
            ellipsis: attributes.mask("ellipsis_mask")?,
        })),
        "Transpose" => Op::Transpose("order"),
        "Squeeze" => Op::Squeeze { skips: attributes.truth("allow_axis_skip")? },
        "Unsqueeze" => Op::Unsqueeze,
        "ShapeOf" => {
            let dtype = attributes.dtype("output_type", Some(DType::I64))?;
            if !matches!(dtype, DType::I32 | DType::I64) {
                return Err(attributes.wrong("output_type", "i32 or i64"));
            }
            Op::Shape { start: 0, end: None, dtype }
        }
        kind @ ("Gather" | "GatherND") => {
            if attributes.integer("batch_dims", Some(0))? != 0 {
                return Err(attributes.wrong("batch_dims", "0"));
            }
            if kind == "Gather" { Op::Gather } else { Op::GatherNd }
        }
        "Concat" => Op::Concat { axis: attributes.integer("axis", None)? },
        "GatherElements" => Op::GatherElements { axis: attributes.integer("axis", None)? },
        "Broadcast" => match attributes.text("mode").unwrap_or("numpy") {
            "numpy" => Op::Expand { both: false },
            "bidirectional" => Op::Expand { both: true },
            _ => return Err(attributes.wrong("mode", "numpy or bidirectional")),
        },
        "Reshape" => {
            Op::Reshape { zero_keeps: attributes.truth("special_zero")?, infers_zero: true }
        }
        "Range" => {
            let dtype =
                attributes.text("output_type").map(|_| attributes.dtype("output_type", None));
            Op::Range(dtype.transpose()?)
        }
        "Select" => Op::Select,
        kind => match Function::named(kind) {
            Some(function) => Op::Arithmetic(function),
            None => Op::Identity,
        },
    };
    Ok((op, inputs))
}
