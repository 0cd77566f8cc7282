//! ONNX: tensors in `.pb` files (TensorProto) and graphs in `.onnx` files (ModelProto).
//!
//! Both are protocol buffers: `messages` declares the fields that are used, and [`prost`] decodes
//! them. Tensors may be large, so their messages are parsed field by field instead. A graph becomes
//! a [`Graph`](crate::graph::Graph), which does not depend on ONNX.

mod attributes;
mod constant;
mod declared;
mod decode;
pub(crate) mod error;
mod message;
mod messages;
mod model;
mod nodes;
mod survey;
mod tensor;
mod wire;
mod write;

pub use error::TensorError;
pub use message::read_message;
pub use model::{decode_model, decode_opset};
pub(crate) use model::{graph_of, outline_of};
pub(crate) use tensor::{Located, Place, locate, string_bytes, value_of};
pub use tensor::{NamedTensor, decode_tensor};
pub(crate) use write::{StringsMessage, raw_head};
