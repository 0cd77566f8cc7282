//! OpenVINO IR: a graph in an `.xml` file, with its constants in the `.bin` file next to it.
//!
//! `xml` reads the document into layers and edges. `model` builds a [`Graph`](crate::graph::Graph)
//! from them, which does not depend on OpenVINO; `layers` has the operators.

mod constant;
mod layers;
mod model;
mod ports;
mod wires;
mod xml;

pub use model::{outline, read_model, read_model_in};
