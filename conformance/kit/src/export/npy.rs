//! `.npy` files. Types that NumPy does not know are void cells; packed ones a flat array of bytes.

use super::Files;
use retrograde_truth::case::{Case, Expected};
use retrograde_truth::tensor::{Data, Tensor};

/// The members of a case in the archive of its rule. Strings are in the manifest: `.npy` has no
/// strings of any length.
pub(super) fn members(case: &Case) -> Files {
    let mut tensors = vec![("input", &case.input), (case.call.argument_name(), &case.argument)];
    tensors.extend(case.extras.named());
    if let Expected::Value(expected) = &case.expected {
        tensors.push(("expected", expected));
    }
    let member = |(name, tensor): (&str, &Tensor)| {
        Some((format!("{}/{name}.npy", case.id), encode(tensor)?))
    };
    tensors.into_iter().filter_map(member).collect()
}

/// A tensor as a file; `None` for strings.
pub(super) fn encode(tensor: &Tensor) -> Option<Vec<u8>> {
    let Data::Bytes(bytes) = &tensor.data else { return None };
    let (descr, shape) = match tensor.dtype.npy {
        Some(descr) => (descr.to_owned(), tensor.shape.clone()),
        None if tensor.dtype.is_packed() => ("|u1".to_owned(), vec![bytes.len()]),
        None => (format!("|V{}", tensor.dtype.bits / 8), tensor.shape.clone()),
    };
    let sizes: String = shape.iter().map(|size| format!("{size},")).collect();
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}), }}");
    // The data begins at a multiple of 64 bytes; magic, version and length take 10.
    let padding = 64 - (10 + header.len() + 1) % 64;
    header += &" ".repeat(padding % 64);
    header.push('\n');
    let length = u16::try_from(header.len()).ok()?;
    Some([b"\x93NUMPY\x01\x00", &length.to_le_bytes()[..], header.as_bytes(), bytes].concat())
}
