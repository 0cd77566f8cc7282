//! The document: layers with their attributes and ports, and the edges between ports.
//!
//! Read as a stream of events ([`quick_xml`]), without recursion: unknown elements are skipped, and
//! depth, lengths and counts are limited.

use crate::words::{one_line, short};
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use std::collections::HashMap;

/// The deepest accepted nesting of elements.
const DEEPEST: usize = 100;
/// The most layers, edges and ports together.
const MOST: usize = 1 << 20;

/// The parts of a document that are used.
#[derive(Debug, Default)]
pub(super) struct Document {
    /// The IR version.
    pub(super) version: Option<String>,
    pub(super) layers: Vec<Layer>,
    pub(super) edges: Vec<Edge>,
}

#[derive(Debug, Default)]
pub(super) struct Layer {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) kind: String,
    /// The operator set.
    pub(super) version: String,
    /// Names of a Result, separated by commas.
    pub(super) output_names: String,
    /// Its attributes.
    pub(super) data: HashMap<String, String>,
    pub(super) inputs: Vec<Port>,
    pub(super) outputs: Vec<Port>,
}

#[derive(Debug, Default)]
pub(super) struct Port {
    pub(super) id: String,
    pub(super) precision: String,
    /// Tensor names, separated by commas.
    pub(super) names: String,
    /// Sizes; -1 for an unknown one.
    pub(super) dims: Vec<i64>,
}

#[derive(Debug)]
pub(super) struct Edge {
    /// Layer and port.
    pub(super) from: (String, String),
    /// Layer and port.
    pub(super) to: (String, String),
}

/// Reads a document; the error is a sentence.
pub(super) fn read(text: &str) -> Result<Document, String> {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.expand_empty_elements = true;
    config.check_end_names = true;
    let mut document = Document::default();
    let mut path: Vec<String> = Vec::new();
    let mut count = 0;
    loop {
        let event = reader.read_event().map_err(|error| {
            let reason = short(&one_line(&error));
            format!("malformed XML at byte {}: {reason}", reader.error_position())
        })?;
        match event {
            Event::Start(tag) => {
                if path.len() == DEEPEST {
                    return Err(format!("elements are nested more than {DEEPEST} deep"));
                }
                path.push(tag.name().as_ref().to_owned());
                if document.start(&path, &tag)? {
                    count += 1;
                }
                if count > MOST {
                    return Err(format!("it has more than {MOST} layers, ports and edges"));
                }
            }
            Event::End(_) => {
                path.pop();
            }
            Event::Text(text) => document.text(&path, &text.xml10_content())?,
            Event::DocType(_) => return Err("it has a DOCTYPE, which no IR has".to_owned()),
            Event::Eof if path.is_empty() => return Ok(document),
            Event::Eof => {
                let open = path.last().map_or(String::new(), |name| short(name));
                return Err(format!("the file is cut short: <{open}> is not closed"));
            }
            // References do not occur in any text that is used: sizes are digits.
            Event::GeneralRef(_) | Event::CData(_) => {}
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::Empty(_) => {}
        }
    }
}

impl Document {
    /// Processes an element; returns whether it is one that is kept.
    fn start(&mut self, path: &[String], tag: &BytesStart<'_>) -> Result<bool, String> {
        let mut names = ["", "", "", "", ""];
        if path.len() > names.len() {
            return Ok(false);
        }
        names.iter_mut().zip(path).for_each(|(name, element)| *name = element);
        match (names, self.layers.last_mut()) {
            (["net", "", ..], _) => self.version = attributes(tag)?.remove("version"),
            (["net", "layers", "layer", "", ""], _) => {
                let keys = ["id", "name", "type", "version", "output_names"];
                let [id, name, kind, version, output_names] = texts(tag, keys)?;
                let layer = Layer { id, name, kind, version, output_names, ..Layer::default() };
                self.layers.push(layer);
            }
            (["net", "layers", "layer", "data", ""], Some(layer)) => layer.data = attributes(tag)?,
            (["net", "layers", "layer", side @ ("input" | "output"), "port"], Some(layer)) => {
                let [id, precision, names] = texts(tag, ["id", "precision", "names"])?;
                let port = Port { id, precision, names, dims: vec![] };
                if side == "input" { layer.inputs.push(port) } else { layer.outputs.push(port) }
            }
            (["net", "edges", "edge", "", ""], _) => {
                let keys = ["from-layer", "from-port", "to-layer", "to-port"];
                let [layer, port, to_layer, to_port] = texts(tag, keys)?;
                self.edges.push(Edge { from: (layer, port), to: (to_layer, to_port) });
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Processes text, which is a size or is ignored.
    fn text(&mut self, path: &[String], text: &str) -> Result<(), String> {
        let names: Vec<&str> = path.iter().take(7).map(String::as_str).collect();
        let ["net", "layers", "layer", side, "port", "dim"] = names[..] else { return Ok(()) };
        let Some(layer) = self.layers.last_mut() else { return Ok(()) };
        let ports = if side == "input" { &mut layer.inputs } else { &mut layer.outputs };
        let size = text.trim().parse().map_err(|_| {
            format!(
                "layer {:?}: a size is {:?}, expected a number",
                short(&layer.name),
                short(text)
            )
        })?;
        if let Some(port) = ports.last_mut() {
            port.dims.push(size);
        }
        Ok(())
    }
}

/// These attributes; empty for those that are not there.
fn texts<const N: usize>(tag: &BytesStart<'_>, keys: [&str; N]) -> Result<[String; N], String> {
    let mut found = attributes(tag)?;
    Ok(keys.map(|key| found.remove(key).unwrap_or_default()))
}

fn attributes(tag: &BytesStart<'_>) -> Result<HashMap<String, String>, String> {
    let mut all = HashMap::new();
    for attribute in tag.attributes() {
        let wrong = |error: &dyn std::fmt::Display| {
            format!("malformed attribute: {}", short(&one_line(&error)))
        };
        let attribute = attribute.map_err(|error| wrong(&error))?;
        let value =
            attribute.normalized_value(XmlVersion::default()).map_err(|error| wrong(&error))?;
        all.insert(attribute.key.as_ref().to_owned(), value.into_owned());
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hostile_gets_through() {
        let deep = format!("<net>{}", "<a>".repeat(1_000_000));
        let laughs = "<!DOCTYPE net [<!ENTITY a \"aaaa\">]><net version=\"11\">&a;</net>";
        let entity = "<net version=\"&a;\"/>";
        let cases = [
            (deep.as_str(), "elements are nested more than 100 deep"),
            (laughs, "it has a DOCTYPE, which no IR has"),
            ("<net version=\"11\">", "the file is cut short: <net> is not closed"),
            (
                "<net><layers><layer><output><port><dim>x</dim></port></output></layer></layers></net>",
                "layer \"\": a size is \"x\", expected a number",
            ),
        ];
        for (text, message) in cases {
            assert_eq!(read(text).unwrap_err(), message);
        }
        for (text, message) in [("<net></nets>", "malformed XML"), (entity, "malformed attribute")]
        {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(message), "{error}");
        }
        let long = format!("<net></{}\n\nx>", "y".repeat(1 << 20));
        let error = read(&long).unwrap_err();
        assert!(error.starts_with("malformed XML at byte 5: ") && error.len() < 200, "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        let many = format!("<net><edges>{}</edges></net>", "<edge/>".repeat(MOST + 1));
        assert_eq!(read(&many).unwrap_err(), "it has more than 1048576 layers, ports and edges");
    }

    #[test]
    fn bodies_of_layers_are_passed_over() {
        let text = "<?xml version=\"1.0\"?><!-- x --><net name=\"m\" version=\"11\"><layers>\
            <layer id=\"0\" name=\"a&amp;b\" type=\"TensorIterator\" version=\"opset1\">\
            <body><layers><layer id=\"7\" name=\"inner\" type=\"Sin\"/></layers></body></layer>\
            </layers><edges><edge from-layer=\"0\" from-port=\"1\" to-layer=\"2\" to-port=\"3\"/></edges></net>";
        let document = read(text).unwrap();
        assert_eq!(document.version.as_deref(), Some("11"));
        assert_eq!(document.layers.len(), 1);
        assert_eq!(document.layers[0].name, "a&b");
        assert_eq!(document.edges[0].to, ("2".to_owned(), "3".to_owned()));
    }
}
