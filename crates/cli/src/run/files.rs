//! Between files and the values of a model: the one place where `run` reads and writes tensors.

use crate::load;
use anyhow::{Result, anyhow, bail};
use bytes::Bytes;
use retrograde::{BitOrder, DType, Grain, Layout, Reversal, Reverse, TensorMut};
use retrograde_io::npy::{self, Kind, NpyArray};
use retrograde_io::{Elements, Value, onnx};
use std::path::Path;

/// Strings of one width may take this many bytes in a .npy file.
const MOST_TEXT: usize = 1 << 30;

/// The tensor in a file, as a model's input of this type.
pub(super) fn load(path: &Path, declared: Option<DType>) -> Result<Value> {
    if is_tensor_proto(path) {
        return Ok(onnx::read_tensor(path)?.value);
    }
    from_npy(&load::tensor(path)?, declared).map_err(|error| anyhow!("{}: {error}", path.display()))
}

/// Writes a tensor in the format that the file's name asks for.
pub(super) fn save(path: &Path, name: &str, value: &Value) -> Result<()> {
    if is_tensor_proto(path) {
        return Ok(onnx::write_tensor(path, name, value)?);
    }
    if is_raw(path) {
        return Ok(value.write_raw(path)?);
    }
    let array = to_npy(value).map_err(|error| anyhow!("{}: {error}", path.display()))?;
    Ok(npy::write(path, &array)?)
}

/// Whether a file of that name can be written.
pub(super) fn check_target(path: &Path) -> Result<()> {
    if !ends_in(path, &["npy"]) && !is_tensor_proto(path) && !is_raw(path) {
        bail!("{}: expected a name that ends in .npy, .pb, .raw or .bin", path.display());
    }
    Ok(())
}

/// The usual format, or else one that holds the tensor.
pub(super) fn extension_for(value: &Value) -> &'static str {
    if descr_of(value.dtype()).is_some() || to_npy(value).is_ok() {
        "npy"
    } else if value.dtype().names().is_some_and(|names| names.onnx.is_some()) {
        "pb"
    } else {
        "raw"
    }
}

fn is_tensor_proto(path: &Path) -> bool {
    ends_in(path, &["pb"])
}

fn is_raw(path: &Path) -> bool {
    ends_in(path, &["raw", "bin"])
}

fn ends_in(path: &Path, extensions: &[&str]) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|found| extensions.iter().any(|e| found.eq_ignore_ascii_case(e)))
}

/// Row-major, little-endian, and packed where the model's type is.
fn from_npy(array: &NpyArray, declared: Option<DType>) -> Result<Value> {
    let (descr, shape) = (array.descr(), array.shape());
    let dtype = descr.dtype();
    let width = dtype.bits().unwrap_or(0) / 8;
    let mut data = match array.fortran_order() {
        false => array.data().to_vec(),
        true => {
            let mut data = vec![0; array.data().len()];
            let rows = Layout::dense(dtype, shape)?;
            let mut rows = TensorMut::new(rows, data.as_mut_slice())?;
            Reverse::axes([]).run(&array.view()?, &mut rows)?;
            data
        }
    };
    let number = match descr.kind() {
        Kind::Text => 4,
        Kind::Complex => width / 2,
        Kind::Bool | Kind::Bytes | Kind::Void => 1,
        _ => width,
    };
    if descr.is_big_endian() && number > 1 {
        data.chunks_exact_mut(number).for_each(<[u8]>::reverse);
    }
    let count = array.layout().len();
    match (descr.kind(), declared) {
        (Kind::Text | Kind::Bytes, _) if width == 0 => {
            Ok(Value::strings(shape, vec![Bytes::new(); count])?)
        }
        (Kind::Text, _) => {
            let strings: Result<Vec<Bytes>> = data.chunks_exact(width).map(characters).collect();
            Ok(Value::strings(shape, strings?)?)
        }
        (Kind::Bytes, _) => {
            let strings = data.chunks_exact(width).map(|cell| {
                let end = cell.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
                Bytes::copy_from_slice(&cell[..end])
            });
            Ok(Value::strings(shape, strings.collect())?)
        }
        // `ml_dtypes` spends a byte on each element of a packed type.
        (Kind::Void, Some(packed)) if packed.is_packed() && width == 1 => {
            Ok(Value::new(packed, shape, pack(&data, packed))?)
        }
        _ => Ok(Value::new(dtype, shape, data)?),
    }
}

/// Characters of four bytes each, up to the zeros that fill the cell, as UTF-8.
fn characters(cell: &[u8]) -> Result<Bytes> {
    let codes: Vec<u32> = cell
        .chunks_exact(4)
        .map(|code| code.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte)))
        .collect();
    let end = codes.iter().rposition(|&code| code != 0).map_or(0, |last| last + 1);
    let text: Option<String> = codes[..end].iter().map(|&code| char::from_u32(code)).collect();
    let text = text.ok_or_else(|| anyhow!("a string has a code that is no character"))?;
    Ok(Bytes::from(text))
}

/// One byte per element to a few bits per element.
fn pack(elements: &[u8], dtype: DType) -> Vec<u8> {
    let Some(Grain::Packed { bits, order }) = dtype.grain() else { return elements.to_vec() };
    let bits = u32::from(bits);
    let mask = (1u8 << bits) - 1;
    let pack_byte = |group: &[u8]| {
        let places = group.iter().enumerate();
        places.fold(0, |byte, (at, element)| {
            let shift = bits * at as u32;
            let shift = if order == BitOrder::LowFirst { shift } else { 8 - bits - shift };
            byte | (element & mask) << shift
        })
    };
    elements.chunks(8 / bits as usize).map(pack_byte).collect()
}

/// How a .npy file spells a type; `None` where it cannot, or where it depends on the elements.
fn descr_of(dtype: DType) -> Option<String> {
    use DType::*;
    let bytes = dtype.bits()? / 8;
    Some(match dtype {
        packed if packed.is_packed() => return None,
        Bool => "|b1".to_owned(),
        U8 => "|u1".to_owned(),
        I8 => "|i1".to_owned(),
        U16 | U32 | U64 => format!("<u{bytes}"),
        I16 | I32 | I64 => format!("<i{bytes}"),
        F16 | F32 | F64 => format!("<f{bytes}"),
        C64 | C128 => format!("<c{bytes}"),
        // What `ml_dtypes` writes.
        F8E5M2 => "<f1".to_owned(),
        _ => format!("<V{bytes}"),
    })
}

fn to_npy(value: &Value) -> Result<NpyArray> {
    let dtype = value.dtype();
    match (value.elements(), descr_of(dtype)) {
        (Elements::Bytes(data), Some(descr)) => {
            Ok(NpyArray::new(&descr, value.shape(), false, data.to_vec())?)
        }
        (Elements::Strings(strings), _) => text_array(value.shape(), strings),
        (Elements::Bytes(_), None) => {
            bail!(".npy files have no {dtype} elements; .pb (of ONNX types) or .raw holds them")
        }
    }
}

/// Strings of one width, as NumPy has them.
fn text_array(shape: &[usize], strings: &[Bytes]) -> Result<NpyArray> {
    let instead = ".pb holds them";
    let mut texts = Vec::with_capacity(strings.len());
    for string in strings {
        match std::str::from_utf8(string) {
            Ok(text) if !text.ends_with('\0') => texts.push(text),
            _ => {
                bail!(".npy files hold text without zeros at its end, not these strings; {instead}")
            }
        }
    }
    let longest = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
    let bytes = longest.checked_mul(4).and_then(|cell| cell.checked_mul(texts.len()));
    if bytes.is_none_or(|bytes| bytes > MOST_TEXT) {
        bail!(
            "{} strings, all as long as the longest, are too much for .npy; {instead}",
            texts.len()
        );
    }
    let mut data = Vec::with_capacity(bytes.unwrap_or(0));
    for text in texts {
        let end = data.len() + 4 * longest;
        data.extend(text.chars().flat_map(|letter| u32::from(letter).to_le_bytes()));
        data.resize(end, 0);
    }
    Ok(NpyArray::new(&format!("<U{longest}"), shape, false, data)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_elements_fill_bytes_from_the_right_end() {
        assert_eq!(pack(&[1, 2, 0xFF], DType::I4), [0x21, 0x0F]);
        assert_eq!(pack(&[0, 1, 2, 3, 1], DType::U2), [0xE4, 0x01]);
        assert_eq!(pack(&[1, 0, 1, 1, 0, 0, 0, 1, 0, 1], DType::U1), [0xB1, 0x40]);
    }

    #[test]
    fn strings_go_both_ways() {
        let words = ["", "a", "größe", "\u{1F980}"].map(|word| Bytes::from(word.to_owned()));
        let value = Value::strings(&[2, 2], words.to_vec()).unwrap();
        let array = to_npy(&value).unwrap();
        assert_eq!(array.descr().as_str(), "<U5");
        assert_eq!(from_npy(&array, None).unwrap(), value);
        for bad in [&b"\xff"[..], b"a\0"] {
            let value = Value::strings(&[1], vec![Bytes::from_static(bad)]).unwrap();
            assert!(to_npy(&value).is_err());
            assert_eq!(extension_for(&value), "pb");
        }
        let bytes = NpyArray::new("|S2", &[2], false, b"a\0bc".to_vec()).unwrap();
        let value = Value::strings(&[2], vec!["a".into(), "bc".into()]).unwrap();
        assert_eq!(from_npy(&bytes, None).unwrap(), value);
    }

    #[test]
    fn order_of_bytes_and_axes_is_the_usual_one() {
        let array = NpyArray::new(">i2", &[2, 2], true, vec![0, 1, 0, 2, 0, 3, 0, 4]).unwrap();
        let value = Value::new(DType::I16, &[2, 2], vec![1, 0, 3, 0, 2, 0, 4, 0]).unwrap();
        assert_eq!(from_npy(&array, None).unwrap(), value);
        let array = NpyArray::new(">c8", &[1], false, (0..8).collect()).unwrap();
        let value = Value::new(DType::C64, &[1], vec![3, 2, 1, 0, 7, 6, 5, 4]).unwrap();
        assert_eq!(from_npy(&array, None).unwrap(), value);
    }
}
