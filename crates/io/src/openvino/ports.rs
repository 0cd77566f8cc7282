//! Texts of a document that describe values: shapes, element types, and names of tensors.

use super::xml::{Layer, Port};
use crate::graph::{Declared, Dim, GraphError, NodeName};
use crate::model::ModelError;
use crate::words::short;
use retrograde::DType;

pub(super) fn element_type(layer: &Layer, name: &NodeName) -> Result<DType, ModelError> {
    let text = layer.data.get("element_type").map_or("", String::as_str);
    DType::from_openvino(text).ok_or_else(|| {
        let expected = "a type that retrograde has (not u3, u6 or a dynamic one)";
        GraphError::attribute(name, "element_type", format!("{:?}", short(text)), expected).into()
    })
}

/// A `shape` attribute; `None` for any rank.
pub(super) fn dims_of(text: &str, name: &NodeName) -> Result<Option<Vec<Dim>>, ModelError> {
    let text = text.trim().trim_start_matches('[').trim_end_matches(']');
    match text {
        "" => return Ok(Some(vec![])),
        "..." => return Ok(None),
        _ => {}
    }
    let bound = |text: &str, open: usize| match text {
        "" => Some(open),
        text => text.parse().ok(),
    };
    let dim = |entry: &str| match entry.trim() {
        "?" | "-1" => Some(Dim::Any),
        entry => match entry.split_once("..") {
            Some((low, high)) => Some(Dim::Between(bound(low, 0)?, bound(high, usize::MAX)?)),
            None => entry.parse().ok().map(Dim::Fixed),
        },
    };
    let dims: Option<Vec<Dim>> = text.split(',').map(dim).collect();
    dims.map(Some).ok_or_else(|| shape_error(text, name))
}

/// What a port declares about its value. A port without sizes is a scalar or has any rank.
pub(super) fn declared_at(port: &Port) -> Declared {
    let name = port.precision.to_ascii_lowercase();
    let dtype = match name.as_str() {
        "bool" => Some(DType::Bool),
        "bin" => Some(DType::U1),
        name => DType::from_openvino(&name.replacen("fp", "f", 1)),
    };
    let size = |&size: &i64| usize::try_from(size).map_or(Dim::Any, Dim::Fixed);
    let dims = (!port.dims.is_empty()).then(|| port.dims.iter().map(size).collect());
    Declared { dtype, dims, ..Declared::default() }
}

/// Comma-separated names; a comma inside a name is escaped with a backslash.
pub(super) fn split_names(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut escaped = false;
    for letter in text.chars() {
        match (letter, escaped) {
            ('\\', false) => escaped = true,
            (',', false) => names.push(String::new()),
            (letter, _) => {
                let name = names.last_mut().expect("there is one from the start");
                if escaped && letter != ',' {
                    name.push('\\');
                }
                name.push(letter);
                escaped = false;
            }
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// The error for a `shape` attribute that is not one.
pub(super) fn shape_error(text: &str, name: &NodeName) -> ModelError {
    let expected = "sizes such as 2,3 (of a Parameter also ?, 1..4 or ...)";
    GraphError::attribute(name, "shape", format!("{:?}", short(text)), expected).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_shapes_are_read() {
        assert_eq!(split_names("a,b\\,c,,d\\e"), ["a", "b,c", "d\\e"]);
        assert!(split_names("").is_empty());
        let name = NodeName { name: "p".to_owned(), kind: "Parameter".to_owned() };
        let dims = |text: &str| dims_of(text, &name);
        assert_eq!(dims("").unwrap(), Some(vec![]));
        assert_eq!(dims("...").unwrap(), None);
        assert_eq!(
            dims("2,?,1..4,..9,3..").unwrap(),
            Some(vec![
                Dim::Fixed(2),
                Dim::Any,
                Dim::Between(1, 4),
                Dim::Between(0, 9),
                Dim::Between(3, usize::MAX)
            ])
        );
        for text in ["x", "1,", "-2", "1..x", "99999999999999999999"] {
            assert!(dims(text).is_err(), "{text}");
        }
    }
}
