//! Files for [`retrograde`]: tensors and models, a module per format, one [`Error`] for all.
//!
//! [`open`] memory-maps a tensor of any format ([`Format`]), [`Output`] is memory that becomes a
//! file when it is finished, and [`Edit`] changes a file in place. Elements are moved as bytes and
//! never converted, so reading a file and writing it again preserves element type, byte order and
//! memory order, if the format has them. Files are not trusted: nothing is allocated because of a
//! header alone. Memory use does not grow with the size of the files, and outputs appear under
//! their names only when they are complete.
//!
//! Models (ONNX, OpenVINO IR) become one [`Graph`](graph::Graph) ([`read_model`]), which runs on
//! [`Value`]s: [`open_value`] reads one from any tensor file, [`Output::of_value`] writes one.
//!
//! [`npy::read`] and [`npy::write`] are for arrays that are to be held in memory.
//!
//! ```
//! use retrograde::{Reversal, Reverse};
//! use retrograde_io::npy::{self, NpyArray};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("x.npy");
//! npy::write(&path, &NpyArray::new(">i2", &[3], false, vec![0, 1, 0, 2, 0, 3])?)?;
//!
//! let x = npy::read(&path)?;
//! let mut y = x.clone();
//! Reverse::all().apply_view(&x.view()?, &mut y.view_mut()?)?;
//! assert_eq!(y.data(), [0, 3, 0, 2, 0, 1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod beneath;
mod edit;
mod element;
mod error;
mod external;
mod format;
pub mod graph;
mod identity;
mod integers;
mod latched;
mod map;
mod model;
mod model_file;
pub mod npy;
mod npz;
pub mod onnx;
mod open;
mod openvino;
mod output;
mod packed;
#[cfg(all(test, unix))]
mod racing;
mod raw;
mod safetensors;
mod save;
mod spool;
mod strings;
mod tensor;
mod text;
mod unlocking;
mod value;
mod words;

pub use edit::Edit;
pub use element::ElementType;
pub use error::Error;
pub use external::ExternalError;
pub use format::{Format, Location};
pub use identity::{FileId, FilesRead};
pub use map::mapped_at;
pub use model::ModelError;
pub use model_file::{ModelFormat, outline, read_model, read_model_in};
pub use npy::NpyError;
pub use npz::NpzError;
pub use open::{Listed, Listing, Opening, list, open, open_integers, open_or_parse, open_value};
pub use output::{Completed, Output};
pub use raw::RawError;
pub use safetensors::SafetensorsError;
pub use save::{Saving, abandon_outputs, write_files, write_text};
pub use spool::folder_beside;
pub use strings::Strings;
pub use tensor::Tensor;
pub use value::{Elements, Value};
