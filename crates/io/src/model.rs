//! Errors of model files.

use crate::graph::error::GraphError;
use crate::onnx::error::TensorError;
use crate::words::short;
use thiserror::Error as ThisError;

/// Why a model file was refused.
#[derive(Debug, ThisError)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum ModelError {
    /// It is not an ONNX model.
    #[error("not an ONNX model: {reason}")]
    NotOnnx { reason: String },
    /// An unsupported operator set.
    #[error(
        "its opset is {}, expected {low} to {high}",
        version.map_or("missing".to_owned(), |version| version.to_string())
    )]
    Opset { version: Option<i64>, low: i64, high: i64 },
    /// An invalid tensor.
    #[error("{what}: {source}")]
    Tensor { what: String, source: Box<TensorError> },
    /// A value that is not a tensor.
    #[error("{what} {name:?} is a map or a sparse tensor, expected a tensor or a sequence")]
    NoTensor { what: &'static str, name: String },
    /// A sparse tensor.
    #[error("initializer {name:?} is sparse, expected a dense tensor")]
    Sparse { name: String },
    /// It is not an OpenVINO IR.
    #[error("not an OpenVINO IR: {reason}")]
    NotIr { reason: String },
    /// An invalid graph.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

impl ModelError {
    /// The error for a file that is not an IR.
    pub(crate) fn not_ir(reason: impl Into<String>) -> ModelError {
        ModelError::NotIr { reason: reason.into() }
    }

    /// The error of an invalid tensor.
    pub(crate) fn tensor(what: &str, source: TensorError) -> ModelError {
        ModelError::Tensor { what: short(what), source: Box::new(source) }
    }
}
