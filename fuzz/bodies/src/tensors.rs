//! Tensor files: lists, opens and reads them completely, reverses the tensors, and writes them and
//! reads them back.

use crate::files::{Folder, checked};
use retrograde::{Reversal, Reverse, TensorRef};
use retrograde_io::{
    Elements, Error, Format, Listed, Location, Opening, Output, Saving, Tensor, Value, list, npy,
    onnx, open, open_integers, open_value,
};
use std::fs;

/// The maximum number of tensors of a file that are checked.
const LOOKED_AT: usize = 3;

pub(crate) fn npy(data: &[u8]) {
    // `npy::read` is a second entry point, which loads the array into memory.
    let folder = Folder::new();
    let array = checked(npy::read(folder.write("x.npy", data).path));
    let tensors = tensor_file(data, Format::Npy);
    match (array, tensors.first()) {
        (Some(array), Some(tensor)) => {
            assert_eq!((array.shape(), array.data()), (tensor.shape(), tensor.data()));
        }
        (array, tensor) => assert_eq!(array.is_some(), tensor.is_some(), "npy::read differs"),
    }
}

pub(crate) fn npz(data: &[u8]) {
    tensor_file(data, Format::Npz);
}

pub(crate) fn safetensors(data: &[u8]) {
    tensor_file(data, Format::Safetensors);
}

pub(crate) fn tensor_proto(data: &[u8]) {
    // A tensor in memory has no folder, so its external data cannot be found.
    let decoded = checked(onnx::decode_tensor(data.to_vec()));
    let tensors = tensor_file(data, Format::Pb);
    if let (Some(decoded), Some(tensor)) = (decoded, tensors.first()) {
        assert_eq!(decoded.value, tensor.to_value(None).expect("cannot convert to a value"));
    }
}

/// Exercises every operation on a file. Returns the tensors that were opened.
fn tensor_file(data: &[u8], format: Format) -> Vec<Tensor> {
    let folder = Folder::new();
    folder.write("beside.bin", &(0..64).collect::<Vec<u8>>());
    let at = folder.write(&format!("x.{format}"), data);
    let opening = Opening::default();
    let only = checked(open(&at, &opening));
    checked(open_integers(&at, &opening));
    let Some(listing) = checked(list(&at, &opening)) else {
        // `list` checks every tensor, `open` only one, so `open` may succeed alone.
        return only.into_iter().collect();
    };
    assert_eq!((listing.format, listing.file_bytes), (format, data.len() as u64));
    let mut tensors = Vec::new();
    for listed in listing.tensors.iter().take(LOOKED_AT) {
        let at =
            Location { name: listed.name.clone().filter(|_| format.has_names()), ..at.clone() };
        let Some(tensor) = checked(open(&at, &opening)) else { continue };
        // If several tensors have the same name, `open` returns the last one.
        let same = |other: &&Listed| other.name == listed.name;
        if listing.tensors.iter().filter(same).count() == 1 {
            assert_eq!(tensor.shape(), listed.shape);
            assert_eq!(*tensor.element_type(), listed.element);
        }
        read(&tensor);
        written(&tensor, &folder, data.len());
        tensors.push(tensor);
    }
    if let (Some(only), [tensor]) = (&only, &tensors[..]) {
        assert_eq!(only.data(), tensor.data());
    }
    tensors
}

/// Reads single elements and the whole tensor, and reverses it twice.
fn read(tensor: &Tensor) {
    let (shape, layout) = (tensor.shape(), tensor.layout());
    assert_eq!(tensor.data().len(), layout.byte_len());
    let first = vec![0; shape.len()];
    let last: Vec<usize> = shape.iter().map(|size| size.saturating_sub(1)).collect();
    for index in [&first, &last] {
        assert_eq!(tensor.element(index).is_some(), !shape.contains(&0), "element {index:?}");
        tensor.integer(index);
    }
    assert!(tensor.element(shape).is_none() || shape.is_empty());
    let view = tensor.view().expect("the data fits its layout");
    let once = Reverse::all().to_bytes(&view).expect("any tensor can be reversed");
    let dense = TensorRef::dense(layout.dtype(), &once[..], shape).expect("the result is dense");
    let twice = Reverse::all().to_bytes(&dense).expect("any tensor can be reversed");
    assert_eq!(twice, in_rows(tensor));
}

fn in_rows(tensor: &Tensor) -> Vec<u8> {
    let view = tensor.view().expect("the data fits its layout");
    Reverse::axes([]).to_bytes(&view).expect("any tensor can be copied")
}

/// Writes the tensor in its own format and in another one, and reads it back.
fn written(tensor: &Tensor, folder: &Folder, pick: usize) {
    let value = checked(tensor.to_value(None));
    let other = Format::ALL[pick % (Format::ALL.len() - 1)];
    for format in [tensor.format(), other] {
        let name = tensor.name().filter(|_| format.has_names()).map(str::to_owned);
        let at = Location { name, ..folder.at(&format!("y.{format}")) };
        // An existing archive with other tensors would not be replaced.
        let _ = fs::remove_file(&at.path);
        let mut output = match Output::like(tensor, at.clone(), &Saving::default()) {
            Ok(output) => output,
            Err(error) => {
                let may = format != tensor.format() || matches!(error, Error::BadName { .. });
                assert!(may, "a tensor of {format} cannot be written: {error}");
                continue;
            }
        };
        // Column-major data may be written to a row-major format.
        match output.layout() == tensor.layout() {
            true => output.data_mut().copy_from_slice(tensor.data()),
            false => output.data_mut().copy_from_slice(&in_rows(tensor)),
        }
        output.finish().expect("cannot write a temporary file");
        let back = open(&at, &Opening::default()).expect("cannot open what was written");
        assert_eq!(back.shape(), tensor.shape());
        if format == tensor.format() {
            assert_eq!(back.element_type(), tensor.element_type());
            assert_eq!(back.fortran_order(), tensor.fortran_order());
        }
        if let Some(value) = &value {
            let back = open_value(&at, &Opening::default(), None).expect("cannot read it back");
            assert!(same(&back, value), "{back:?}, expected {value:?}");
        }
    }
}

/// Whether shapes and elements are equal. Types may differ, because a format may lack a type.
fn same(left: &Value, right: &Value) -> bool {
    let equal = match (left.elements(), right.elements()) {
        (Elements::Bytes(left), Elements::Bytes(right)) => left == right,
        (Elements::Strings(left), Elements::Strings(right)) => left == right,
        _ => false,
    };
    equal && left.shape() == right.shape()
}
