//! Memory for outputs, and how much of it is kept.

use crate::errors::raised;
use bytes::Bytes;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use retrograde::cpu::{self, Block};
use retrograde::{DType, Layout, MemoryMut, Operator, Reversal, Reverse};
use retrograde_io::graph::{Buffer, Buffers};
use std::io;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// At least this many uninitialised bytes.
pub(crate) fn block(bytes: usize) -> PyResult<Block> {
    let too_large = || PyMemoryError::new_err(format!("no memory for {bytes} bytes of output"));
    Block::new(bytes).ok_or_else(too_large)
}

/// A block whose first bytes are initialised.
pub(crate) struct Filled {
    block: Block,
    len: usize,
}

impl Filled {
    /// The block, and how many bytes are initialised.
    pub(crate) fn into_parts(self) -> (Block, usize) {
        (self.block, self.len)
    }
}

impl AsRef<[u8]> for Filled {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the block is at least this large, and alive. These bytes are initialised: only
        // `Unfilled::freeze` makes a `Filled`.
        unsafe { std::slice::from_raw_parts(self.block.as_ptr(), self.len) }
    }
}

/// A shared block, as the owner of a [`Bytes`].
struct Shared(Arc<Filled>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

/// Blocks for the results of a graph. Those of outputs become arrays without a copy.
#[derive(Default, Clone)]
pub(crate) struct Blocks(Arc<Mutex<Vec<Weak<Filled>>>>);

/// A block that is being written.
struct Unfilled {
    blocks: Blocks,
    block: Block,
    len: usize,
    zeroed: bool,
}

impl Buffers for Blocks {
    fn buffer(&self, len: usize, zeroed: bool) -> io::Result<Box<dyn Buffer>> {
        let block = Block::new(len).ok_or(io::ErrorKind::OutOfMemory)?;
        if zeroed {
            // SAFETY: the block is at least this large, and nothing else refers to it.
            unsafe { block.as_ptr().write_bytes(0, len) };
        }
        Ok(Box::new(Unfilled { blocks: self.clone(), block, len, zeroed }))
    }
}

impl Buffer for Unfilled {
    fn memory(&mut self) -> MemoryMut<'_> {
        // SAFETY: the block is at least this large, and borrowed for as long as the memory is. It is
        // initialised if it is zeroed.
        unsafe { MemoryMut::from_raw(self.block.as_ptr(), self.len, self.zeroed) }
    }

    /// Every byte is initialised: it is zeroed, or a graph has written all of it (see [`Buffers`]).
    fn freeze(self: Box<Self>) -> io::Result<Bytes> {
        let Unfilled { blocks: Blocks(made), block, len, .. } = *self;
        let filled = Arc::new(Filled { block, len });
        let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
        made.retain(|block| block.strong_count() > 0);
        made.push(Arc::downgrade(&filled));
        Ok(Bytes::from_owner(Shared(filled)))
    }
}

impl Blocks {
    /// These bytes in a block that nothing else refers to: their own, or a copy.
    pub(crate) fn take(&self, bytes: Bytes) -> PyResult<Filled> {
        let bytes = match self.own(bytes) {
            Ok(filled) => return Ok(filled),
            Err(bytes) => bytes,
        };
        let layout = Layout::dense(DType::U8, &[bytes.len()]);
        let (operator, argument) = (Operator::Reverse, "input");
        let wrong = |source| raised(retrograde::Error::Argument { operator, argument, source });
        let layout = layout.map_err(wrong)?;
        let no_memory = |_| PyMemoryError::new_err(format!("no memory for {} bytes", bytes.len()));
        let mut copy = self.buffer(bytes.len(), false).map_err(no_memory)?;
        let prepared = Reverse::axes([]).prepare(&layout, &layout).map_err(raised)?;
        prepared.run(&bytes[..], copy.memory()).map_err(raised)?;
        let copy = copy.freeze().map_err(no_memory)?;
        self.own(copy).map_err(|_| PyMemoryError::new_err("the copy of a result is shared"))
    }

    /// The block of these bytes, if they are all of it and nothing else refers to it.
    fn own(&self, bytes: Bytes) -> Result<Filled, Bytes> {
        let Blocks(made) = self;
        let made = made.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |filled: &Arc<Filled>| {
            let own: &[u8] = (**filled).as_ref();
            (own.as_ptr(), own.len()) == (bytes.as_ptr(), bytes.len())
        };
        let Some(found) = made.iter().filter_map(Weak::upgrade).find(is_it) else {
            return Err(bytes);
        };
        drop(bytes);
        Arc::try_unwrap(found).map_err(|shared| Bytes::from_owner(Shared(shared)))
    }
}

/// What [`set_kept_memory`] was given last. Only locked with the GIL held, so no child is forked meanwhile.
static LIMIT: Mutex<Option<usize>> = Mutex::new(None);

/// Sets how many bytes of freed memory are kept for the next large outputs; 0 keeps none, ``None`` restores
/// the default.
#[pyfunction]
#[pyo3(signature = (bytes, /))]
pub(crate) fn set_kept_memory(bytes: Option<usize>) {
    let mut limit = LIMIT.lock().unwrap_or_else(PoisonError::into_inner);
    cpu::set_kept_memory(bytes);
    *limit = bytes;
}

/// The number that [`set_kept_memory`] was given, if it is not the default.
#[pyfunction]
pub(crate) fn kept_memory_limit() -> Option<usize> {
    *LIMIT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of bytes kept for the next large outputs.
#[pyfunction]
pub(crate) fn kept_memory() -> usize {
    cpu::kept_memory()
}
