//! Tensor files: listed, opened, read to the last byte, reversed, written and read again.

use crate::files::{Folder, checked};
use retrograde::{Reversal, Reverse, TensorRef};
use retrograde_io::{
    Elements, Error, Format, Listed, Location, Opening, Output, Saving, Tensor, Value, list, npy,
    onnx, open, open_integers, open_value,
};
use std::fs;

/// Tensors of one file that are looked at.
const LOOKED_AT: usize = 3;

pub(crate) fn npy(data: &[u8]) {
    // The other way in, for arrays that are to be in memory.
    let folder = Folder::new();
    let array = checked(npy::read(folder.write("x.npy", data).path));
    let tensors = tensor_file(data, Format::Npy);
    match (array, tensors.first()) {
        (Some(array), Some(tensor)) => {
            assert_eq!((array.shape(), array.data()), (tensor.shape(), tensor.data()));
        }
        (array, tensor) => assert_eq!(array.is_some(), tensor.is_some(), "read as open does"),
    }
}

pub(crate) fn npz(data: &[u8]) {
    tensor_file(data, Format::Npz);
}

pub(crate) fn safetensors(data: &[u8]) {
    tensor_file(data, Format::Safetensors);
}

pub(crate) fn tensor_proto(data: &[u8]) {
    // In memory there is no folder beside it, so external data is not found there.
    let decoded = checked(onnx::decode_tensor(data.to_vec()));
    let tensors = tensor_file(data, Format::Pb);
    if let (Some(decoded), Some(tensor)) = (decoded, tensors.first()) {
        assert_eq!(decoded.value, tensor.to_value(None).expect("it is as models have it"));
    }
}

/// Everything that can be done with a file; the tensors that were opened.
fn tensor_file(data: &[u8], format: Format) -> Vec<Tensor> {
    let folder = Folder::new();
    folder.write("beside.bin", &(0..64).collect::<Vec<u8>>());
    let at = folder.write(&format!("x.{format}"), data);
    let opening = Opening::default();
    let only = checked(open(&at, &opening));
    checked(open_integers(&at, &opening));
    let Some(listing) = checked(list(&at, &opening)) else {
        // A listing looks at every tensor, `open` at one.
        return only.into_iter().collect();
    };
    assert_eq!((listing.format, listing.file_bytes), (format, data.len() as u64));
    let mut tensors = Vec::new();
    for listed in listing.tensors.iter().take(LOOKED_AT) {
        let at =
            Location { name: listed.name.clone().filter(|_| format.has_names()), ..at.clone() };
        let Some(tensor) = checked(open(&at, &opening)) else { continue };
        // Of two tensors of a name, the last one is opened.
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

/// Reads every byte, by elements and as a whole, and reverses it twice.
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
    let dense = TensorRef::dense(layout.dtype(), &once[..], shape).expect("a dense result");
    let twice = Reverse::all().to_bytes(&dense).expect("any tensor can be reversed");
    assert_eq!(twice, in_rows(tensor));
}

fn in_rows(tensor: &Tensor) -> Vec<u8> {
    let view = tensor.view().expect("the data fits its layout");
    Reverse::axes([]).to_bytes(&view).expect("any tensor can be copied")
}

/// Writes it in its own format and in another one, and reads that again.
fn written(tensor: &Tensor, folder: &Folder, pick: usize) {
    let value = checked(tensor.to_value(None));
    let other = Format::ALL[pick % (Format::ALL.len() - 1)];
    for format in [tensor.format(), other] {
        let name = tensor.name().filter(|_| format.has_names()).map(str::to_owned);
        let at = Location { name, ..folder.at(&format!("y.{format}")) };
        // An archive is not replaced where other tensors would be lost.
        let _ = fs::remove_file(&at.path);
        let mut output = match Output::like(tensor, at.clone(), &Saving::default()) {
            Ok(output) => output,
            Err(error) => {
                let may = format != tensor.format() || matches!(error, Error::BadName { .. });
                assert!(may, "a tensor of {format} cannot be written: {error}");
                continue;
            }
        };
        // Column-major data goes to row-major formats.
        match output.layout() == tensor.layout() {
            true => output.data_mut().copy_from_slice(tensor.data()),
            false => output.data_mut().copy_from_slice(&in_rows(tensor)),
        }
        output.finish().expect("room for temporary files");
        let back = open(&at, &Opening::default()).expect("what was written can be opened");
        assert_eq!(back.shape(), tensor.shape());
        if format == tensor.format() {
            assert_eq!(back.element_type(), tensor.element_type());
            assert_eq!(back.fortran_order(), tensor.fortran_order());
        }
        if let Some(value) = &value {
            let back = open_value(&at, &Opening::default(), None).expect("as it was before");
            assert!(same(&back, value), "{back:?} was {value:?}");
        }
    }
}

/// Whether the elements are the same; formats do not all have a name for a type.
fn same(left: &Value, right: &Value) -> bool {
    let equal = match (left.elements(), right.elements()) {
        (Elements::Bytes(left), Elements::Bytes(right)) => left == right,
        (Elements::Strings(left), Elements::Strings(right)) => left == right,
        _ => false,
    };
    equal && left.shape() == right.shape()
}
