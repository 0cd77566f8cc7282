//! Which files are models.

use std::path::Path;

/// Whether a file's extension is that of a model.
pub(crate) fn is_model(path: &Path) -> bool {
    let is = |expected: &str| {
        path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(expected))
    };
    is("onnx") || is("xml")
}
