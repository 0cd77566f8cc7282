//! Attributes of HDF5 datasets as JSON, and the names that NetCDF4 gives to axes.

use crate::element::Class;
use crate::grid::Grid;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hdf5_pure::{AttrValue, File};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Attributes that describe how NetCDF4 uses HDF5, and mean nothing elsewhere.
const INTERNAL: [&str; 4] = ["CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST"];

/// The text that NetCDF4 gives to the dataset of a dimension that has no variable.
const BARE: &str = "This is a netCDF dimension but not a netCDF variable";

/// Whether a file is NetCDF4.
pub(super) fn is_netcdf(file: &File) -> bool {
    file.root().attrs().is_ok_and(|attributes| attributes.contains_key("_NCProperties"))
}

/// Whether a dataset only stands for a dimension.
pub(super) fn is_bare_dimension(attributes: &HashMap<String, AttrValue>) -> bool {
    let name = attributes.get("NAME").and_then(value);
    name.as_ref().and_then(Value::as_str).is_some_and(|name| name.starts_with(BARE))
}

/// The value that stands for missing elements, as xarray writes it to attributes of Zarr: that of a float
/// in base64, because JSON has no NaN.
pub(super) fn fill_value(attributes: &HashMap<String, AttrValue>, class: Class) -> Option<Value> {
    let found = attributes.get("_FillValue")?;
    if class != Class::Float {
        return value(found).map(single);
    }
    let value = match found {
        AttrValue::F32(value) => f64::from(*value),
        AttrValue::F64(value) => *value,
        AttrValue::F32Array(values) => f64::from(*values.first()?),
        AttrValue::F64Array(values) => *values.first()?,
        _ => return None,
    };
    Some(json!(BASE64_STANDARD.encode(value.to_le_bytes())))
}

/// The only value of a list, and anything else as it is.
fn single(value: Value) -> Value {
    match value {
        Value::Array(mut list) if list.len() == 1 => list.remove(0),
        other => other,
    }
}

/// Attributes that JSON can hold, in the order of their names. In NetCDF4, a list of one value is that
/// value. What stands for missing elements is written apart ([`fill_value`]).
pub(super) fn to_json(attributes: &HashMap<String, AttrValue>, netcdf: bool) -> Map<String, Value> {
    let known = |name: &&String| {
        !INTERNAL.contains(&name.as_str())
            && !name.starts_with("_Netcdf4")
            && !name.starts_with("_NC")
            && *name != "_FillValue"
    };
    let mut names: Vec<&String> = attributes.keys().filter(known).collect();
    names.sort();
    let entry = |name: &String| {
        let value = value(attributes.get(name)?)?;
        Some((name.clone(), if netcdf { single(value) } else { value }))
    };
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
/// axis of a NetCDF4 variable is a dimension of its group or of one around it: itself if it is one, by
/// its number if the file has that, and otherwise if only one dimension has the size of the axis.
pub(super) fn axes(
    file: &File,
    inside: &str,
    attributes: &HashMap<String, AttrValue>,
    grid: &Grid,
) -> Vec<Option<String>> {
    if !is_netcdf(file) {
        return vec![None; grid.rank()];
    }
    let (folder, own) = inside.rsplit_once('/').unwrap_or(("", inside));
    if is_scale(attributes) && grid.rank() == 1 {
        return vec![Some(own.to_owned())];
    }
    let mut dimensions: Vec<(String, u64, Option<i64>)> = Vec::new();
    let around = folder.match_indices('/').map(|(at, _)| &folder[..at]);
    for path in [""].into_iter().chain(around).chain((!folder.is_empty()).then_some(folder)) {
        let group = if path.is_empty() { Ok(file.root()) } else { file.group(path) };
        let Ok((names, group)) = group.and_then(|group| Ok((group.datasets()?, group))) else {
            continue;
        };
        for name in names {
            let Ok(dataset) = group.dataset(&name) else { continue };
            let (Ok(shape), Ok(attributes)) = (dataset.shape(), dataset.attrs()) else { continue };
            if let (true, Some(&size)) = (is_scale(&attributes), shape.first()) {
                let number = attributes.get("_Netcdf4Dimid").and_then(value).map(single);
                dimensions.push((name, size, number.and_then(|number| number.as_i64())));
            }
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

/// Whether a dataset is a dimension.
fn is_scale(attributes: &HashMap<String, AttrValue>) -> bool {
    attributes.get("CLASS").and_then(value) == Some(json!("DIMENSION_SCALE"))
}
