//! One call as a C struct, and as an operator of the engine.

use retrograde::{
    Align, DType, Layout, LengthPolicy, Orient, Orientation, Reversal, Reverse, ReverseSegments,
    ReverseSequence, ReverseSubsequences, Table, Tail, TensorRef,
};
use retrograde_wgpu::{Error, Gpu};

/// What a call returned.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The output is written.
    Done = 0,
    /// An argument is invalid, and nothing was written.
    Invalid = 1,
    /// There is no such adapter.
    NoDevice = 2,
    /// Anything else.
    Failed = 3,
}

impl Status {
    pub(crate) fn of(error: &Error) -> Self {
        match error {
            Error::Call(_) | Error::Execute(_) => Status::Invalid,
            Error::NoDevice { .. } => Status::NoDevice,
            _ => Status::Failed,
        }
    }
}

/// An operator with its arguments, and the shape of the array.
#[repr(C)]
#[derive(Debug)]
pub struct Call {
    /// 0: `Reverse`; 1: `ReverseSequence`; 2: `ReverseSubsequences`; 3: `ReverseSegments`; 4: `Orient`.
    pub operator: u32,
    /// Bytes of an element.
    pub width: u32,
    /// Bytes of the array.
    pub bytes: usize,
    /// Its rank.
    pub rank: usize,
    /// Its sizes.
    pub shape: *const usize,
    /// Number of axes: any for `Reverse`, time and batch for `ReverseSequence`, rows and columns for
    /// `Orient`, one for the others.
    pub axis_count: usize,
    /// The axes.
    pub axes: *const i64,
    /// Rank of the lengths or offsets, which are dense 64-bit integers.
    pub lengths_rank: usize,
    /// Their sizes.
    pub lengths_shape: *const usize,
    /// The lengths or offsets.
    pub lengths: *const i64,
    /// Bits: 1, lengths beyond the axis are clamped; 2, sequences are at the end of the axis; 4,
    /// what is beyond a length becomes zero; 8, offsets are marked (`ReverseSegments::marked`). For
    /// `Orient`, the EXIF number.
    pub flags: u32,
    /// Entries of the table that what is reversed is looked up in; 0 without one.
    pub table_count: usize,
    /// The entries.
    pub table: *const u8,
}

/// An array on its way through a device.
struct Passage<'a> {
    gpu: &'a Gpu,
    layout: Layout,
    table: Option<Table>,
    input: &'a [u8],
    output: &'a mut [u8],
}

impl Passage<'_> {
    /// Runs an operator on it, with the table if there is one.
    fn run<'o>(self, operator: &impl Reversal<'o>) -> Result<(), Error> {
        let turned = operator.output_shape(self.layout.shape())?;
        let result =
            Layout::dense(self.layout.dtype(), &turned).map_err(retrograde::Error::from)?;
        let prepared = match &self.table {
            Some(table) => operator.table(table).prepare(&self.layout, &result)?,
            None => operator.prepare(&self.layout, &result)?,
        };
        pollster::block_on(self.gpu.reverse(&prepared, self.input, None, self.output))
    }
}

impl Call {
    /// Runs it.
    ///
    /// # Safety
    /// Every pointer is valid for as many values as the fields say.
    pub(crate) unsafe fn run(
        &self,
        gpu: &Gpu,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), Error> {
        // SAFETY: as many as the fields say, as required.
        let (shape, axes, lengths_shape, entries) = unsafe {
            (
                slice(self.shape, self.rank),
                slice(self.axes, self.axis_count),
                slice(self.lengths_shape, self.lengths_rank),
                slice(self.table, self.table_count),
            )
        };
        let count = if self.lengths.is_null() { 0 } else { lengths_shape.iter().product() };
        // SAFETY: as many as their shape says, as required.
        let lengths = unsafe { slice(self.lengths, count) };
        let lengths =
            || TensorRef::from_slice(lengths, lengths_shape).map_err(retrograde::Error::from);
        let layout = Layout::dense(DType::Bytes(self.width as usize), shape)
            .map_err(retrograde::Error::from)?;
        let has = |flag: u32| self.flags & flag != 0;
        let policy = if has(1) { LengthPolicy::Clamp } else { LengthPolicy::Strict };
        let align = if has(2) { Align::End } else { Align::Start };
        let tail = if has(4) { Tail::Zero } else { Tail::Keep };
        let axis = |at: usize| axes.get(at).copied().unwrap_or(0);
        let table = (!entries.is_empty()).then(|| Table::new(entries)).transpose()?;
        let passage = Passage { gpu, layout, table, input, output };
        match self.operator {
            0 => passage.run(&Reverse::axes(axes.iter().copied())),
            1 => {
                let operator = ReverseSequence::new().time_axis(axis(0)).batch_axis(axis(1));
                let operator = operator.policy(policy).align(align).tail(tail);
                passage.run(&operator.lengths(lengths()?))
            }
            2 => {
                let operator = ReverseSubsequences::along(axis(0));
                let operator = operator.policy(policy).align(align).tail(tail);
                passage.run(&operator.lengths(lengths()?))
            }
            3 => {
                let operator = ReverseSegments::along(axis(0));
                let operator = if has(8) { operator.marked() } else { operator };
                passage.run(&operator.offsets(lengths()?))
            }
            _ => {
                let orientation = Orientation::from_exif(self.flags.into());
                let orientation = orientation.map_err(retrograde::Error::from)?;
                passage.run(&Orient::new(orientation).axes(axis(0), axis(1)))
            }
        }
    }
}

/// A slice; empty for no elements, whatever the pointer.
///
/// # Safety
/// `data` is valid for reads of `len` initialised elements, unless that is 0.
pub(crate) unsafe fn slice<'a, T>(data: *const T, len: usize) -> &'a [T] {
    if len == 0 {
        return &[];
    }
    // SAFETY: valid for that many, as required.
    unsafe { std::slice::from_raw_parts(data, len) }
}

/// The same to write to.
///
/// # Safety
/// `data` is valid for writes of `len` initialised elements, unless that is 0, and nothing else
/// uses them.
pub(crate) unsafe fn slice_mut<'a, T>(data: *mut T, len: usize) -> &'a mut [T] {
    if len == 0 {
        return &mut [];
    }
    // SAFETY: valid for that many, as required.
    unsafe { std::slice::from_raw_parts_mut(data, len) }
}
