//! What can be wrong with the file of a model.

use crate::graph::error::GraphError;
use crate::onnx::error::TensorError;
use thiserror::Error as ThisError;

/// What is wrong with a model.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum ModelError {
    /// It is no ONNX model.
    #[error("not an ONNX model: {reason}")]
    NotOnnx {
        /// What the decoder says.
        reason: String,
    },
    /// An operator set that is not known.
    #[error(
        "its opset is {}, expected {low} to {high}",
        version.map_or("missing".to_owned(), |version| version.to_string())
    )]
    Opset {
        /// The version, if there is one.
        version: Option<i64>,
        /// The first that is known.
        low: i64,
        /// The last that is known.
        high: i64,
    },
    /// A tensor in it is wrong.
    #[error("{what}: {source}")]
    Tensor {
        /// Which one.
        what: String,
        /// What is wrong with it.
        source: Box<TensorError>,
    },
    /// A value that is no tensor.
    #[error("{what} {name:?} is no tensor, but a sequence, a map or the like")]
    NoTensor {
        /// What it is in the graph.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// It is no OpenVINO IR.
    #[error("not an OpenVINO IR: {reason}")]
    NotIr {
        /// What is wrong with it.
        reason: String,
    },
    /// The graph is wrong.
    #[error(transparent)]
    Graph(#[from] GraphError),
}
