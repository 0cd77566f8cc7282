//! Tensor files for [`retrograde`]: a module per format, one [`Error`] for all of them.
//!
//! Elements are bytes that move and never change, so reading a file and writing it again
//! gives back the same element type, byte order and memory order. Files are not trusted:
//! nothing is allocated on the word of a header alone. Writing goes through a temporary
//! file that takes the target's name when it is complete.
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
//! Reverse::all().run(&x.view()?, &mut y.view_mut()?)?;
//! assert_eq!(y.data(), [0, 3, 0, 2, 0, 1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod external;
pub mod graph;
mod map;
pub mod npy;
pub mod onnx;
pub mod openvino;
mod save;
mod value;

pub use error::{Error, ModelError, NpyError};
pub use external::ExternalError;
pub use value::{Elements, Value};
