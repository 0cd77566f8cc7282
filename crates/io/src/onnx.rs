//! ONNX: tensors in `.pb` files (TensorProto) and graphs in `.onnx` files (ModelProto).
//!
//! Both are protocol buffers; `messages` declares the fields that are used, [`prost`] decodes
//! them. A graph becomes a [`Graph`](crate::graph::Graph), which knows nothing of ONNX.

mod messages;
mod model;
mod tensor;

pub use model::read_model;
pub use tensor::{NamedTensor, TensorError, decode_tensor, read_tensor, write_tensor};
pub(crate) use tensor::{decode_beside, encode_head, encode_strings};
