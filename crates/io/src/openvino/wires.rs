//! The edges of a document: which output port each input port is connected to.

use super::xml::{Document, Layer, Port};
use crate::model::ModelError;
use crate::words::short;
use std::collections::HashMap;

/// The output port that each input port is connected to.
pub(super) struct Wires<'a> {
    sources: HashMap<(&'a str, &'a str), (&'a str, &'a str)>,
    pub(super) ports: HashMap<(&'a str, &'a str), &'a Port>,
    /// Names of layers by id.
    pub(super) layers: HashMap<&'a str, &'a str>,
}

impl<'a> Wires<'a> {
    pub(super) fn of(document: &'a Document) -> Result<Wires<'a>, ModelError> {
        let (mut sources, mut ports) = (HashMap::new(), HashMap::new());
        let mut layers = HashMap::new();
        for layer in &document.layers {
            if layers.insert(layer.id.as_str(), layer.name.as_str()).is_some() {
                return Err(ModelError::not_ir(format!(
                    "two layers have the id {:?}",
                    short(&layer.id)
                )));
            }
            for port in &layer.outputs {
                ports.insert((layer.id.as_str(), port.id.as_str()), port);
            }
        }
        for edge in &document.edges {
            let from = (edge.from.0.as_str(), edge.from.1.as_str());
            let to = (edge.to.0.as_str(), edge.to.1.as_str());
            if sources.insert(to, from).is_some() {
                let (layer, port) = (short(to.0), short(to.1));
                return Err(ModelError::not_ir(format!(
                    "two edges lead to port {port:?} of layer {layer:?}"
                )));
            }
        }
        Ok(Wires { sources, ports, layers })
    }

    /// The output port that an input port is connected to.
    pub(super) fn source(
        &self,
        layer: &'a Layer,
        port: &'a Port,
    ) -> Result<(&'a str, &'a str), ModelError> {
        let at = (layer.id.as_str(), port.id.as_str());
        self.sources.get(&at).copied().ok_or_else(|| {
            ModelError::not_ir(format!(
                "layer {:?}: no edge leads to its port {:?}",
                short(&layer.name),
                short(&port.id)
            ))
        })
    }
}

/// The name of an output port's value in the graph.
pub(super) fn value_name(layer: &str, port: &str) -> String {
    format!("{layer}:{port}")
}
