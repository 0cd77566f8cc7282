//! OpenVINO IR version 11: Reverse-1 with constant axes, ReverseSequence-1 with lengths as an input.

use super::{Files, npy, place};
use crate::call::Call;
use crate::case::{Case, Expected};
use crate::tensor::{Data, Tensor};
use crate::types::Type;
use std::fmt::Write;

/// The files of a case.
pub(super) fn files(case: &Case) -> Option<Files> {
    let (xml, bin) = model(&case.call, case.input.dtype, &case.input.shape, &case.argument)?;
    let folder = place(case);
    let mut files = vec![
        (format!("{folder}/model.xml"), xml.into_bytes()),
        (format!("{folder}/model.bin"), bin),
    ];
    let mut tensors = vec![("input_0", &case.input)];
    if !matches!(case.call, Call::Reverse { .. }) {
        tensors.push(("input_1", &case.argument));
    }
    if let Expected::Value(expected) = &case.expected {
        tensors.push(("output_0", expected));
    }
    for (name, tensor) in tensors {
        files.extend(npy::encode(tensor).map(|bytes| (format!("{folder}/{name}.npy"), bytes)));
    }
    Some(files)
}

/// The text and the weights of a model; `None` if OpenVINO has no such operator or type.
pub fn model(
    call: &Call,
    dtype: &Type,
    shape: &[usize],
    argument: &Tensor,
) -> Option<(String, Vec<u8>)> {
    let (kind, other) = (dtype.openvino?, argument.dtype.openvino?);
    let (name, attributes, constant) = match *call {
        Call::Reverse { mask } => {
            ("Reverse", format!("mode=\"{}\"", if mask { "mask" } else { "index" }), true)
        }
        Call::AnySequence { time, batch } => {
            ("ReverseSequence", format!("batch_axis=\"{batch}\" seq_axis=\"{time}\""), false)
        }
        _ => return None,
    };
    let list = |sizes: &[usize]| sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    let port = |id: usize, kind: &str, sizes: &[usize]| {
        let dims: String = sizes.iter().map(|size| format!("<dim>{size}</dim>")).collect();
        format!("<port id=\"{id}\" precision=\"{}\">{dims}</port>", precision(kind))
    };
    let (x, a) = (list(shape), list(&argument.shape));
    let mut out =
        String::from("<?xml version=\"1.0\"?>\n<net name=\"case\" version=\"11\">\n<layers>\n");
    let parameter = |id: usize, name: &str, kind: &str, sizes: &str, shape: &[usize]| {
        format!(
            "<layer id=\"{id}\" name=\"{name}\" type=\"Parameter\" version=\"opset1\"><data shape=\"{sizes}\" \
             element_type=\"{kind}\"/><output>{}</output></layer>\n",
            port(0, kind, shape)
        )
    };
    out += &parameter(0, "x", kind, &x, shape);
    let mut bin = Vec::new();
    if constant {
        let Data::Bytes(bytes) = &argument.data else { return None };
        let size = bytes.len();
        let _ = writeln!(
            out,
            "<layer id=\"1\" name=\"axes\" type=\"Const\" version=\"opset1\"><data element_type=\"{other}\" \
             shape=\"{a}\" offset=\"0\" size=\"{size}\"/><output>{}</output></layer>",
            port(0, other, &argument.shape)
        );
        bin.clone_from(bytes);
        // OpenVINO does not read an empty file.
        bin.resize(bin.len().max(8), 0);
    } else {
        bin.resize(8, 0);
        out += &parameter(1, "lengths", other, &a, &argument.shape);
    }
    let _ = writeln!(
        out,
        "<layer id=\"2\" name=\"y\" type=\"{name}\" version=\"opset1\"><data {attributes}/><input>{}{}</input>\
         <output>{}</output></layer>",
        port(0, kind, shape),
        port(1, other, &argument.shape),
        port(2, kind, shape),
    );
    let _ = writeln!(
        out,
        "<layer id=\"3\" name=\"y/result\" type=\"Result\" version=\"opset1\"><input>{}</input></layer>",
        port(0, kind, shape)
    );
    out += "</layers>\n<edges>\n";
    for (from, to, at) in [(0, 2, 0), (1, 2, 1)] {
        let _ = writeln!(
            out,
            "<edge from-layer=\"{from}\" from-port=\"0\" to-layer=\"{to}\" to-port=\"{at}\"/>"
        );
    }
    out +=
        "<edge from-layer=\"2\" from-port=\"2\" to-layer=\"3\" to-port=\"0\"/>\n</edges>\n</net>\n";
    Some((out, bin))
}

/// The older spelling of a type, which ports have.
fn precision(kind: &str) -> String {
    match kind {
        "f16" | "f32" | "f64" => kind.replace('f', "FP"),
        "boolean" => "BOOL".to_owned(),
        other => other.to_uppercase(),
    }
}
