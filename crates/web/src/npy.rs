//! Files in `.npy` format, held in memory.

use retrograde::{Reversal, Reverse};
use retrograde_io::npy::NpyArray;
use wasm_bindgen::prelude::{JsError, wasm_bindgen};

/// The content of a `.npy` file.
#[wasm_bindgen]
#[derive(Debug)]
pub struct NpyFile(NpyArray);

#[wasm_bindgen]
impl NpyFile {
    /// Reads a whole file.
    pub fn parse(bytes: &[u8]) -> Result<NpyFile, JsError> {
        Ok(NpyFile(NpyArray::from_bytes(bytes)?))
    }

    /// The element type, by Retrograde's name.
    pub fn dtype(&self) -> String {
        self.0.descr().dtype().to_string()
    }

    /// The element type as the file spells it, such as `<f4`.
    pub fn descr(&self) -> String {
        self.0.descr().to_string()
    }

    /// Whether elements are big-endian.
    pub fn big_endian(&self) -> bool {
        self.0.descr().is_big_endian()
    }

    /// The sizes of the axes.
    pub fn shape(&self) -> Vec<f64> {
        self.0.shape().iter().map(|&size| size as f64).collect()
    }

    /// The elements as bytes, in row-major order.
    pub fn data(&self) -> Result<Vec<u8>, JsError> {
        // No axes: the engine copies from the file's order to rows.
        Ok(Reverse::axes([]).to_bytes(&self.0.view()?)?)
    }

    /// A file of the same type and shape with other elements, in row-major order.
    pub fn with_data(&self, data: Vec<u8>) -> Result<Vec<u8>, JsError> {
        let changed = NpyArray::new(self.0.descr().as_str(), self.0.shape(), false, data)?;
        Ok(changed.to_bytes())
    }
}
