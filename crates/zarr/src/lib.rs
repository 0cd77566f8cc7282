//! Reverses Zarr stores chunk by chunk: arrays and groups, versions 2 and 3, in parallel and in
//! bounded memory. Stores are read and written as they are: metadata is copied, missing chunks stay
//! missing, and chunks that only move are not decoded.
//!
//! [`Job`] is the outline. [`Movement`] says which input chunks an output chunk consists of; it knows no
//! data. [`Array`] is metadata and codecs, by `zarrs`. The elements are moved by `retrograde`.

#![forbid(unsafe_code)]

mod array;
mod axes;
mod codec;
#[cfg(feature = "program")]
pub mod command;
mod consolidated;
mod convert;
mod element;
mod error;
mod flip;
mod grid;
mod hdf5;
mod inflate;
mod inside;
mod integers;
mod job;
mod journal;
mod movement;
mod needs;
mod npy;
mod ome;
mod operation;
mod output;
mod sequences;
mod shards;
mod stage;
pub mod store;
mod subject;
mod tree;
mod upload;
mod work;
mod zarr;

pub use array::Array;
pub use axes::{Axes, Axis};
pub use convert::Conversion;
pub use error::Error;
pub use grid::{Grid, Piece, Span};
pub use hdf5::{is_hdf5, list as list_hdf5};
pub use integers::{integers_of_hdf5, integers_of_zarr};
pub use job::{Job, Summary};
pub use movement::Movement;
pub use needs::{Needs, Part};
pub use operation::Operation;
pub use output::Target;
pub use sequences::{Padded, Sequences};
pub use tree::Tree;
pub use work::{Counts, Settings};
