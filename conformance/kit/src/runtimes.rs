//! The runtimes that the kit knows: Python adapters that travel in the library.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

/// A runtime with an adapter in Python.
#[derive(Debug)]
pub struct BuiltIn {
    /// Its name on the command line.
    pub name: &'static str,
    /// The file of its adapter.
    file: &'static str,
    text: &'static str,
    /// The arguments of the adapter.
    arguments: &'static [&'static str],
}

/// What the adapters share.
const SHARED: [(&str, &str); 2] = [
    ("protocol.py", include_str!("../adapters/protocol.py")),
    ("onnx_models.py", include_str!("../adapters/onnx_models.py")),
];

macro_rules! adapters {
    ($($name:literal $file:literal $($argument:literal)?;)*) => {
        /// Every runtime with a built-in adapter.
        pub const BUILT_IN: &[BuiltIn] = &[$(BuiltIn {
            name: $name,
            file: $file,
            text: include_str!(concat!("../adapters/", $file)),
            arguments: &[$($argument)?],
        }),*];
    };
}

adapters! {
    "numpy" "numpy_.py";
    "onnx-reference" "onnx_reference.py";
    "onnxruntime" "onnxruntime_.py";
    "onnxruntime-plugin" "onnxruntime_.py" "plugin";
    "openvino" "openvino_.py";
    "openvino-gpu" "openvino_.py" "GPU";
    "tensorflow" "tensorflow_.py";
    "tflite" "tflite_.py";
    "jax" "jax_.py";
    "torch" "torch_.py";
    "tract" "tract_.py";
    "iree" "iree_.py";
    "rten" "rten_.py";
    "retrograde-python" "retrograde_python.py";
}

/// The runtime with this name.
pub fn built_in(name: &str) -> Option<&'static BuiltIn> {
    BUILT_IN.iter().find(|one| one.name == name)
}

impl BuiltIn {
    /// Writes the adapter to a folder and returns the command that runs it.
    pub fn command(&self, python: &str, folder: &Path) -> io::Result<Vec<OsString>> {
        for (name, text) in SHARED.iter().copied().chain([(self.file, self.text)]) {
            fs::write(folder.join(name), text)?;
        }
        let adapter = [python.into(), folder.join(self.file).into()];
        Ok(adapter.into_iter().chain(self.arguments.iter().map(OsString::from)).collect())
    }

    /// The source of the adapter, to learn from.
    pub fn source(&self) -> &'static str {
        self.text
    }
}
