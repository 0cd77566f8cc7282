//! Moves elements through the engine: a view to a dense value, reversed or not, or several views
//! into one value.

use super::operand::OperandError;
use super::view::{self, View};
use crate::spool;
use crate::value::Value;
use bytes::Bytes;
use retrograde::{Error, Layout, LayoutError, MemoryMut, Prepared, Reversal, Reverse};
use std::io;
use std::path::PathBuf;

/// Bytes to move between two calls of the progress callback.
const PIECE: usize = 16 << 20;

/// Where the results of a graph go: a folder for temporary files, or memory of the caller.
pub trait Buffers {
    /// A buffer of this many bytes; they are zero if `zeroed`. Every byte is written before it is
    /// frozen, unless it is zeroed.
    fn buffer(&self, len: usize, zeroed: bool) -> io::Result<Box<dyn Buffer>>;
}

/// Memory that becomes the elements of a value once they are written.
pub trait Buffer {
    /// The memory to write to.
    fn memory(&mut self) -> MemoryMut<'_>;

    /// Makes it read-only.
    fn freeze(self: Box<Self>) -> io::Result<Bytes>;
}

/// Large results go to unnamed files in this folder, so that they take no anonymous memory.
impl Buffers for PathBuf {
    fn buffer(&self, len: usize, _: bool) -> io::Result<Box<dyn Buffer>> {
        Ok(Box::new(spool::zeroed(len, self)?))
    }
}

impl Buffer for spool::Room {
    fn memory(&mut self) -> MemoryMut<'_> {
        MemoryMut::from(&mut self[..])
    }

    fn freeze(self: Box<Self>) -> io::Result<Bytes> {
        Ok(Bytes::from_owner(spool::Room::freeze(*self)?))
    }
}

/// The memory for results, its bounds, and the progress callback.
pub(crate) struct Workspace<'a> {
    pub(crate) buffers: &'a dyn Buffers,
    /// The most bytes of a result that may be larger than its inputs.
    pub(crate) most: u64,
    /// Called with the number of bytes moved.
    pub(crate) moved: Option<&'a mut dyn FnMut(u64)>,
}

/// The elements of a view as a value.
pub(super) fn dense(view: &View, workspace: &mut Workspace<'_>) -> Result<Value, OperandError> {
    match view.whole() {
        Some(value) => Ok(value),
        None => reversed(&Reverse::axes([]), view, workspace),
    }
}

/// The elements of a view, reversed.
pub(super) fn reversed<'r>(
    operator: &impl Reversal<'r>,
    input: &View,
    workspace: &mut Workspace<'_>,
) -> Result<Value, OperandError> {
    let (from, to) = (input.layout()?, Layout::dense(input.moving_type(), input.shape())?);
    let prepared = operator.prepare(&from, &to)?;
    // Only repeated elements make a result larger than what it is made from.
    if to.byte_len() > input.bytes().len() {
        check_size(to.byte_len(), workspace)?;
    }
    // The last byte of packed elements may be written in part.
    let zeroed = to.dtype().is_packed();
    let bytes = filled(to.byte_len(), zeroed, workspace, |mut output, moved| {
        run(&prepared, input.bytes(), &mut output, moved)
    })?;
    Ok(view::with_bytes(input.value(), input.shape(), bytes)?)
}

/// A part of a result: elements, and where the first one goes.
pub(super) struct Part {
    pub(super) elements: View,
    /// In elements.
    pub(super) offset: usize,
}

/// A value of this shape that consists of these parts, which do not overlap; there is at least one.
/// All have the type of the first, and `strides` are those of the result, in elements.
pub(super) fn assembled(
    shape: &[usize],
    strides: &[isize],
    parts: &[Part],
    workspace: &mut Workspace<'_>,
) -> Result<Value, OperandError> {
    let Some(first) = parts.first() else { return Err(OperandError::NoRoom { len: 0 }) };
    let dtype = first.elements.moving_type();
    let whole = Layout::dense(dtype, shape)?;
    check_size(whole.byte_len(), workspace)?;
    let count = |shape: &[usize]| shape.iter().product::<usize>();
    let all = parts.iter().map(|part| count(part.elements.shape())).sum::<usize>();
    let zeroed = dtype.is_packed() || all != whole.len();
    let bytes = filled(whole.byte_len(), zeroed, workspace, |mut output, mut moved| {
        for part in parts {
            let view = &part.elements;
            if view.shape().contains(&0) {
                continue;
            }
            let to = Layout::strided(dtype, view.shape(), strides, part.offset)?;
            let prepared = Reverse::axes([]).prepare(&view.layout()?, &to)?;
            run(&prepared, view.bytes(), &mut output, reborrowed(&mut moved))?;
        }
        Ok(())
    })?;
    Ok(view::with_bytes(first.elements.value(), shape, bytes)?)
}

pub(super) fn check_size(len: usize, workspace: &Workspace<'_>) -> Result<(), OperandError> {
    let (len, limit) = (len as u64, workspace.most);
    if len > limit { Err(OperandError::TooLarge { len, limit }) } else { Ok(()) }
}

fn run(
    prepared: &Prepared<'_>,
    input: &[u8],
    output: &mut MemoryMut<'_>,
    moved: Option<&mut dyn FnMut(u64)>,
) -> Result<(), Error> {
    let Some(moved) = moved else { return prepared.run(input, output.reborrow()) };
    for piece in prepared.check()?.pieces(PIECE) {
        piece.execute(input, output.reborrow()).map_err(|error| prepared.explain(error))?;
        moved((piece.plan().bytes_moved() / 2) as u64);
    }
    Ok(())
}

/// A buffer that `fill` writes to. Without space for one, fall back to the heap.
fn filled(
    len: usize,
    zeroed: bool,
    workspace: &mut Workspace<'_>,
    mut fill: impl FnMut(MemoryMut<'_>, Option<&mut dyn FnMut(u64)>) -> Result<(), Error>,
) -> Result<Bytes, OperandError> {
    if let Ok(mut output) = workspace.buffers.buffer(len, zeroed) {
        fill(output.memory(), reborrowed(&mut workspace.moved))?;
        if let Ok(output) = output.freeze() {
            return Ok(output);
        }
    }
    let mut output = Vec::new();
    output.try_reserve_exact(len).map_err(|_| OperandError::NoRoom { len })?;
    output.resize(len, 0u8);
    fill(MemoryMut::from(&mut output), reborrowed(&mut workspace.moved))?;
    Ok(output.into())
}

/// The same callback for a shorter time.
fn reborrowed<'a>(moved: &'a mut Option<&mut dyn FnMut(u64)>) -> Option<&'a mut dyn FnMut(u64)> {
    match moved {
        Some(moved) => Some(&mut **moved),
        None => None,
    }
}

/// A tensor of numbers in the native byte order, as a view of the engine.
pub(super) fn native(value: &Value) -> Result<std::borrow::Cow<'_, [u8]>, OperandError> {
    use crate::value::Elements;
    let Elements::Bytes(bytes) = value.elements() else { return Err(LayoutError::Strings.into()) };
    let width = value.dtype().bits().unwrap_or(8) / 8;
    if cfg!(target_endian = "little") || width < 2 {
        return Ok(bytes.as_ref().into());
    }
    let mut native = bytes.to_vec();
    native.chunks_exact_mut(width).for_each(<[u8]>::reverse);
    Ok(native.into())
}
