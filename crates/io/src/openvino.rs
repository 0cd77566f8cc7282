//! OpenVINO IR: a graph in a `.xml` file, its constants in the `.bin` file beside it.
//!
//! `xml` reads the document into layers and edges, `model` makes a
//! [`Graph`](crate::graph::Graph) of them, which knows nothing of OpenVINO.

mod model;
mod xml;

pub use model::{outline, read_model, read_model_in};
