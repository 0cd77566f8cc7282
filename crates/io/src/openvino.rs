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

pub(crate) use model::{graph_of, outline_of};
