//! Constants: layers whose elements are in the `.bin` file.

use super::ports::{dims_of, element_type, shape_error};
use super::xml::Layer;
use crate::external::Folder;
use crate::graph::{Dim, GraphError, NodeName};
use crate::model::ModelError;
use crate::onnx::TensorError;
use crate::strings::Strings;
use crate::value::Value;
use bytes::Bytes;
use retrograde::DType;
use std::io;
use std::path::Path;

/// The value of a Const layer; `weights` is the name of the file.
pub(super) fn value(
    layer: &Layer,
    name: &NodeName,
    weights: &str,
    folder: &mut Folder,
) -> Result<Value, ModelError> {
    let dtype = element_type(layer, name)?;
    let wrong = |source| ModelError::tensor(&name.to_string(), source);
    let number = |key: &'static str| match layer.data.get(key).map(|text| text.trim().parse()) {
        Some(Ok(number)) => Ok(number),
        found => {
            let value = if found.is_some() { "something else" } else { "missing" };
            Err(ModelError::from(GraphError::attribute(name, key, value, "a number of bytes")))
        }
    };
    let (offset, size): (u64, u64) = (number("offset")?, number("size")?);
    let text = layer.data.get("shape").map_or("", String::as_str);
    let shape: Option<Vec<usize>> = dims_of(text, name)?.and_then(|dims| {
        let fixed = dims.into_iter().map(|dim| match dim {
            Dim::Fixed(size) => Some(size),
            _ => None,
        });
        fixed.collect()
    });
    let shape = shape.ok_or_else(|| shape_error(text, name))?;
    let mut data = folder
        .bytes(weights, offset, size)
        .map_err(|source| wrong(TensorError::External(source)))?;
    let value = match dtype {
        DType::String => {
            let strings = strings_in(&data, folder.spool()).map_err(|reason| {
                ModelError::NotIr { reason: format!("{name}: its strings: {reason}") }
            })?;
            Value::strings(&shape, strings)
        }
        dtype => {
            // OpenVINO stores one byte for an empty tensor.
            if shape.contains(&0) && size <= 1 {
                data = Bytes::new();
            }
            Value::new(dtype, &shape, data)
        }
    };
    value.map_err(|source| wrong(TensorError::Shape(source)))
}

/// Packed strings: the count, the start of each and the end of the last, and their bytes.
fn strings_in(data: &Bytes, folder: &Path) -> io::Result<Strings> {
    let outside = || io::Error::other("they are outside its data");
    let word = |at: usize| {
        let start = at.checked_mul(4)?;
        let bytes = data.get(start..start.checked_add(4)?)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
    };
    let count = word(0).ok_or_else(outside)?;
    // Each string has an offset word, so `count` cannot exceed what the data can hold.
    count.checked_add(1).and_then(word).ok_or_else(outside)?;
    let text = data.slice(4 * (count + 2)..);
    let place = |at: usize| {
        let place = word(at + 1)?..word(at + 2)?;
        text.get(place.clone()).map(|_| place)
    };
    let places = (0..count).map(|at| place(at).ok_or_else(outside));
    Strings::at(text.clone(), count, places, folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_stay_inside_their_data() {
        let words = |words: &[u32], text: &[u8]| {
            let mut data: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            data.extend_from_slice(text);
            strings_in(&Bytes::from(data), &std::env::temp_dir()).ok()
        };
        let found = words(&[2, 0, 1, 3], b"abc").unwrap();
        assert_eq!(found.iter().collect::<Vec<_>>(), [&b"a"[..], b"bc"]);
        assert!(words(&[0, 0], b"").unwrap().is_empty());
        for bad in [&[][..], &[1], &[u32::MAX, 0, 0], &[1, 0, 4], &[1, 2, 1], &[2, 0, 1]] {
            assert_eq!(words(bad, b"abc"), None, "{bad:?}");
        }
    }
}
