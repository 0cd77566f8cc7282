//! StableHLO text: `main` reverses a constant, `expected` returns what must come out.

use super::{Files, place, resolved_axes};
use retrograde_truth::case::{Case, Expected};
use retrograde_truth::tensor::{Data, Tensor, hex};
use retrograde_truth::types::Kind;

/// The file of a case; `None` if MLIR has no such constant.
pub(super) fn files(case: &Case) -> Option<Files> {
    let axes = match case.argument.shape.len() {
        1 => resolved_axes(case)?,
        _ => return None,
    };
    // Negative axes do not exist here, so their cases would be those of the positive ones.
    if case.argument.to_integers().iter().any(|&axis| axis < 0) {
        return None;
    }
    let of = tensor_type(&case.input)?;
    let mut text = format!(
        "// {}: {}\nmodule {{\n  func.func @main() -> {of} {{\n    %x = stablehlo.constant {} : {of}\n    \
         {}\n    return %y : {of}\n  }}\n",
        case.id,
        case.rule,
        constant(&case.input)?,
        reverse("%y", "%x", &axes, &of),
    );
    if let Expected::Value(expected) = &case.expected {
        text += &format!(
            "  func.func @expected() -> {of} {{\n    %y = stablehlo.constant {} : {of}\n    \
             return %y : {of}\n  }}\n",
            constant(expected)?
        );
    }
    text += "}\n";
    Some(vec![(format!("{}.mlir", place(case)), text.into_bytes())])
}

/// The operation that reverses a value of this type.
pub(crate) fn reverse(result: &str, value: &str, axes: &[usize], of: &str) -> String {
    format!("{result} = stablehlo.reverse {value}, dims = {axes:?} : {of}")
}

fn tensor_type(tensor: &Tensor) -> Option<String> {
    let sizes: String = tensor.shape.iter().map(|size| format!("{size}x")).collect();
    Some(format!("tensor<{sizes}{}>", tensor.dtype.mlir?))
}

/// Hexadecimal bytes keep every bit. Booleans have no such form that all versions read the same, and
/// the form of packed types is not specified.
fn constant(tensor: &Tensor) -> Option<String> {
    let Data::Bytes(bytes) = &tensor.data else { return None };
    match tensor.dtype.kind {
        _ if tensor.is_empty() => Some("dense<>".to_owned()),
        Kind::Bool => Some(format!("dense<{}>", nested(tensor, &tensor.shape, 0))),
        _ if tensor.dtype.is_packed() => None,
        _ => Some(format!("dense<\"0x{}\">", hex(bytes).to_uppercase())),
    }
}

/// Elements in nested lists.
fn nested(tensor: &Tensor, shape: &[usize], start: usize) -> String {
    let Some((&size, inner)) = shape.split_first() else { return tensor.text(start) };
    let step: usize = inner.iter().product();
    let parts: Vec<_> = (0..size).map(|at| nested(tensor, inner, start + at * step)).collect();
    format!("[{}]", parts.join(", "))
}
