//! What a model declares about its values.

use crate::words::short;
use retrograde::DType;
use std::fmt;

/// What a model declares about a value: its type, its shape, both or neither.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Declared {
    /// The element type.
    pub dtype: Option<DType>,
    /// One entry per axis.
    pub dims: Option<Vec<Dim>>,
    /// What it is if it is not a tensor.
    pub container: Option<Container>,
}

/// A value of ONNX that is not a tensor, but holds some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Container {
    /// A list of tensors, or of other lists.
    Sequence,
    /// A tensor or a sequence, or nothing.
    Optional,
}

impl Container {
    /// Its name in errors, with an article.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Container::Sequence => "a sequence",
            Container::Optional => "an optional value",
        }
    }
}

/// What a model declares about the size of an axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dim {
    /// Nothing.
    Any,
    /// It is this.
    Fixed(usize),
    /// It is the same wherever this name occurs.
    Named(String),
    /// It is in this range, both ends included.
    Between(usize, usize),
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Any => f.write_str("?"),
            Dim::Fixed(size) => write!(f, "{size}"),
            // Files may have any characters in names, line breaks among them.
            Dim::Named(name) => write!(f, "{}", short(name).escape_debug()),
            Dim::Between(low, usize::MAX) => write!(f, "{low}.."),
            Dim::Between(low, high) => write!(f, "{low}..{high}"),
        }
    }
}

/// As `f32 [2, T, ?]`.
impl fmt::Display for Declared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(container) = self.container {
            return f.write_str(container.name());
        }
        match self.dtype {
            Some(dtype) => write!(f, "{dtype} ")?,
            None => f.write_str("? ")?,
        }
        match &self.dims {
            None => f.write_str("of any shape"),
            Some(dims) => {
                let dims: Vec<String> = dims.iter().map(Dim::to_string).collect();
                write!(f, "[{}]", dims.join(", "))
            }
        }
    }
}
