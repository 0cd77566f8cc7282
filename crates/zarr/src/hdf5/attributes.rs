//! Attributes of HDF5 datasets as JSON, and the names that NetCDF4 gives to axes.

use crate::grid::Grid;
use hdf5_pure::{AttrValue, File};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Attributes that describe how NetCDF4 uses HDF5, and mean nothing elsewhere.
const INTERNAL: [&str; 4] = ["CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST"];

/// Attributes that JSON can hold, in the order of their names. The fill value is part of the
/// metadata of a Zarr array.
pub(super) fn to_json(attributes: &HashMap<String, AttrValue>) -> Map<String, Value> {
    let known = |name: &&String| {
        !INTERNAL.contains(&name.as_str())
            && !name.starts_with("_Netcdf4")
            && !name.starts_with("_NC")
            && *name != "_FillValue"
    };
    let mut names: Vec<&String> = attributes.keys().filter(known).collect();
    names.sort();
    let entry = |name: &String| Some((name.clone(), value(attributes.get(name)?)?));
    names.into_iter().filter_map(entry).collect()
}

/// A value; none for one that JSON cannot hold.
fn value(attribute: &AttrValue) -> Option<Value> {
    let finite = |value: f64| value.is_finite().then(|| json!(value));
    Some(match attribute {
        AttrValue::F32(value) => return finite(f64::from(*value)),
        AttrValue::F64(value) => return finite(*value),
        AttrValue::F32Array(values) => {
            return values.iter().map(|&value| finite(value.into())).collect();
        }
        AttrValue::F64Array(values) => return values.iter().map(|&value| finite(value)).collect(),
        AttrValue::I8(value) => json!(value),
        AttrValue::I16(value) => json!(value),
        AttrValue::I32(value) => json!(value),
        AttrValue::I64(value) => json!(value),
        AttrValue::U8(value) => json!(value),
        AttrValue::U16(value) => json!(value),
        AttrValue::U32(value) => json!(value),
        AttrValue::U64(value) => json!(value),
        AttrValue::I8Array(values) => json!(values),
        AttrValue::I16Array(values) => json!(values),
        AttrValue::I32Array(values) => json!(values),
        AttrValue::I64Array(values) => json!(values),
        AttrValue::U8Array(values) => json!(values),
        AttrValue::U16Array(values) => json!(values),
        AttrValue::U32Array(values) => json!(values),
        AttrValue::U64Array(values) => json!(values),
        AttrValue::String(text)
        | AttrValue::AsciiString(text)
        | AttrValue::VarLenString(text)
        | AttrValue::VarLenAsciiString(text)
        | AttrValue::StringSized { value: text, .. }
        | AttrValue::AsciiStringSized { value: text, .. } => json!(text),
        AttrValue::StringArray(texts)
        | AttrValue::AsciiStringArray(texts)
        | AttrValue::VarLenStringArray(texts)
        | AttrValue::VarLenAsciiStringArray(texts)
        | AttrValue::StringArraySized { values: texts, .. }
        | AttrValue::AsciiStringArraySized { values: texts, .. } => json!(texts),
        _ => return None,
    })
}

/// The names of axes in a NetCDF4 file.
///
/// The reader does not resolve the references that link a dataset to its dimensions. But every
/// axis of a NetCDF4 variable is a dimension: by its number if the file has that, and otherwise if
/// only one dimension has the size of the axis.
pub(super) fn axes(
    file: &File,
    attributes: &HashMap<String, AttrValue>,
    grid: &Grid,
) -> Vec<Option<String>> {
    let none = vec![None; grid.rank()];
    let root = file.root();
    let netcdf = root.attrs().is_ok_and(|attributes| attributes.contains_key("_NCProperties"));
    let Some(names) = netcdf.then(|| root.datasets().ok()).flatten() else { return none };
    let mut dimensions: Vec<(String, u64, Option<i64>)> = Vec::new();
    for name in names {
        let Ok(dataset) = root.dataset(&name) else { continue };
        let (Ok(shape), Ok(attributes)) = (dataset.shape(), dataset.attrs()) else { continue };
        let scale = attributes.get("CLASS").and_then(value) == Some(json!("DIMENSION_SCALE"));
        if let (true, Some(&size)) = (scale, shape.first()) {
            let number = attributes.get("_Netcdf4Dimid").and_then(value);
            dimensions.push((name, size, number.and_then(|number| number.as_i64())));
        }
    }
    let numbers = attributes.get("_Netcdf4Coordinates").and_then(value);
    if let Some(Value::Array(numbers)) = numbers
        && numbers.len() == grid.rank()
    {
        let named = |number: &Value| {
            let known = dimensions.iter().find(|(_, _, known)| *known == number.as_i64())?;
            Some(known.0.clone())
        };
        return numbers.iter().map(named).collect();
    }
    let of_size = |size: &u64| {
        let mut found = dimensions.iter().filter(|(_, known, _)| known == size);
        match (found.next(), found.next()) {
            (Some((name, ..)), None) => Some(name.clone()),
            _ => None,
        }
    };
    grid.shape().iter().map(of_size).collect()
}
