//! Buffers bound to a compiled operator.

use crate::ReverseSubsequencesDesc;
use crate::desc::TensorDesc;
use crate::error::BindError;
use crate::role::Role;
use retrograde::cpu::Program;
use retrograde::{LengthsMemory, Memory, MemoryMut, Plan};
use std::ops::Range;

/// `DML_BUFFER_BINDING` of a tensor that is read.
#[derive(Debug, Clone, Copy)]
pub struct BufferBinding<'a> {
    /// `Buffer`.
    pub buffer: &'a [u8],
    /// `Offset` in bytes.
    pub offset: u64,
    /// `SizeInBytes`.
    pub size: u64,
}

/// `DML_BUFFER_BINDING` of the tensor that is written.
#[derive(Debug)]
pub struct BufferBindingMut<'a> {
    /// `Buffer`.
    pub buffer: &'a mut [u8],
    /// `Offset` in bytes.
    pub offset: u64,
    /// `SizeInBytes`.
    pub size: u64,
}

impl<'a> BufferBinding<'a> {
    /// A whole buffer.
    pub fn whole(buffer: &'a [u8]) -> Self {
        BufferBinding { size: buffer.len() as u64, offset: 0, buffer }
    }
}

impl<'a> BufferBindingMut<'a> {
    /// A whole buffer.
    pub fn whole(buffer: &'a mut [u8]) -> Self {
        BufferBindingMut { size: buffer.len() as u64, offset: 0, buffer }
    }
}

/// The requirements on a bound range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Demand {
    tensor: Role,
    total: u64,
    alignment: u32,
}

impl Demand {
    fn of(tensor: Role, desc: &TensorDesc<'_>) -> Self {
        let (total, alignment) = (desc.total_size_in_bytes, desc.base_offset_alignment);
        Demand { tensor, total, alignment }
    }

    /// The bound range as indices into its buffer.
    fn range(self, offset: u64, size: u64, buffer: usize) -> Result<Range<usize>, BindError> {
        let Demand { tensor, total, alignment } = self;
        let end = offset.checked_add(size).filter(|&end| end <= buffer as u64);
        let Some(end) = end else {
            return Err(BindError::OutsideBuffer { tensor, offset, size, buffer });
        };
        if size < total {
            return Err(BindError::TooSmall { tensor, size, total });
        }
        if alignment != 0 && !offset.is_multiple_of(alignment.into()) {
            return Err(BindError::Misaligned { tensor, offset, alignment });
        }
        // Both are at most `buffer`, a usize.
        Ok(offset as usize..end as usize)
    }
}

/// An operator whose descriptors satisfy every rule.
///
/// Created by [`ReverseSubsequencesDesc::compile`]. DirectML binds the tensors that it owns when an
/// operator is initialised; here all tensors are bound at execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompiledOperator {
    program: Program,
    input: Demand,
    sequence_lengths: Demand,
    output: Demand,
}

impl CompiledOperator {
    pub(super) fn new(plan: Plan, desc: &ReverseSubsequencesDesc<'_>) -> Self {
        CompiledOperator {
            program: Program::new(plan),
            input: Demand::of(Role::Input, &desc.input),
            sequence_lengths: Demand::of(Role::SequenceLengths, &desc.sequence_lengths),
            output: Demand::of(Role::Output, &desc.output),
        }
    }

    /// How it runs on the CPU.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        self.program.plan()
    }

    /// Runs on bound buffers. As in DirectML, there is no in-place mode.
    pub fn execute(
        &self,
        input: BufferBinding<'_>,
        sequence_lengths: BufferBinding<'_>,
        output: BufferBindingMut<'_>,
    ) -> Result<(), BindError> {
        let bound = |demand: Demand, binding: &BufferBinding<'_>| {
            demand.range(binding.offset, binding.size, binding.buffer.len())
        };
        let src = &input.buffer[bound(self.input, &input)?];
        let lengths = &sequence_lengths.buffer[bound(self.sequence_lengths, &sequence_lengths)?];
        let range = self.output.range(output.offset, output.size, output.buffer.len())?;
        let dst = MemoryMut::from(&mut output.buffer[range]);
        // The descriptor says of which type the bytes of a binding are.
        let lengths = self.plan().lengths().map(|plan| LengthsMemory::new(plan.dtype, lengths));
        self.program.execute(Memory::from(src), lengths, dst)?;
        Ok(())
    }
}
