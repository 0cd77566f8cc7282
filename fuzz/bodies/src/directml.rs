//! DirectML descriptors and bindings: valid ones, some with injected faults. A descriptor without a
//! fault must compile. Every operator that compiles is run and compared with the oracle.

use crate::choices::{Choices, Noise};
use crate::files::checked;
use retrograde::DType;
use retrograde_directml::{
    BufferBinding, BufferBindingMut, FeatureLevel, ReverseSubsequencesDesc, Role,
    TENSOR_FLAG_OWNED_BY_DML, TensorDesc,
};
use retrograde_suite::oracle;

/// The maximum number of elements of a tensor.
const MOST: u64 = 2048;
/// The maximum size of a buffer in bytes.
const MOST_BYTES: u64 = 64 << 10;

/// The fields of a tensor descriptor, with owned sizes and strides.
#[derive(Debug, Clone)]
struct Described {
    dtype: DType,
    sizes: Vec<u32>,
    strides: Option<Vec<u32>>,
    flags: u32,
    tensor_type: u32,
    /// Overrides the code of `dtype`.
    data_type: Option<u32>,
    /// The difference between the declared and the required size in bytes.
    extra: i64,
    alignment: u32,
}

impl Described {
    fn desc(&self) -> TensorDesc<'_> {
        let desc = match &self.strides {
            Some(strides) => TensorDesc::strided(self.dtype, &self.sizes, strides),
            None => TensorDesc::packed(self.dtype, &self.sizes),
        };
        TensorDesc {
            tensor_type: self.tensor_type,
            data_type: self.data_type.unwrap_or(desc.data_type),
            flags: self.flags,
            total_size_in_bytes: desc.total_size_in_bytes.saturating_add_signed(self.extra),
            base_offset_alignment: self.alignment,
            ..desc
        }
    }

    /// The byte offset of each element.
    fn positions(&self) -> Vec<usize> {
        let shape: Vec<usize> = self.sizes.iter().map(|&size| size as usize).collect();
        let width = self.dtype.bits().unwrap_or(8) / 8;
        let mut positions = Vec::new();
        oracle::for_each_index(&shape, |index| {
            let at = match &self.strides {
                None => oracle::ordinal(&shape, index),
                Some(strides) => index.iter().zip(strides).map(|(i, s)| i * *s as usize).sum(),
            };
            positions.push(at * width);
        });
        positions
    }
}

pub(crate) fn directml(data: &[u8]) {
    use FeatureLevel::*;
    let mut choices = Choices::new(data);
    let level = choices.pick(&[L2_1, L3_0, L4_0, L5_0]);
    let counts = level.dimension_counts();
    let rank = counts.start() + choices.below(counts.end() - counts.start() + 1);
    let sizes = sizes(&mut choices, rank);
    let axis = choices.below(rank);
    let mut lanes = sizes.clone();
    lanes[axis] = 1;
    let mut tensor = |role, sizes: &[u32]| described(&mut choices, level, role, sizes);
    let mut tensors = [
        tensor(Role::Input, &sizes),
        tensor(Role::SequenceLengths, &lanes),
        tensor(Role::Output, &sizes),
    ];
    tensors[2].dtype = tensors[0].dtype;
    let mut axis = axis as u32;
    let faults = choices.below(8).saturating_sub(5);
    for _ in 0..faults {
        match choices.below(4) {
            0 => axis = choices.u32(),
            at => fault(&mut choices, &mut tensors[at - 1]),
        }
    }
    let [input, lengths, output] = &tensors;
    let desc = ReverseSubsequencesDesc {
        input: input.desc(),
        sequence_lengths: lengths.desc(),
        output: output.desc(),
        axis,
    };
    let valid = checked(desc.validate(level)).is_some();
    let compiled = checked(desc.compile(level));
    assert_eq!(valid, compiled.is_some(), "validate and compile disagree");
    assert!(valid || faults > 0, "{:?}: {desc:?}", desc.validate(level));
    let Some(operator) = compiled else { return };
    let totals = [&desc.input, &desc.sequence_lengths, &desc.output];
    if totals.iter().any(|desc| desc.total_size_in_bytes > MOST_BYTES) {
        return;
    }
    // An operator that compiled has the sizes of its descriptors, even if faults were injected.
    let mut noise = choices.noise();
    let bound = tensors.each_ref().map(|tensor| Bound::new(&mut choices, tensor, &mut noise));
    let [source, mut counts, mut target] = bound;
    small(&mut counts, lengths, input.sizes[axis as usize], &mut noise);
    let before = target.buffer.clone();
    let result = operator.execute(
        BufferBinding { buffer: &source.buffer, offset: source.offset, size: source.size },
        BufferBinding { buffer: &counts.buffer, offset: counts.offset, size: counts.size },
        BufferBindingMut { buffer: &mut target.buffer, offset: target.offset, size: target.size },
    );
    if checked(result).is_none() {
        assert!(source.odd || counts.odd || target.odd, "rejected without a fault");
        assert_eq!(target.buffer, before, "rejected, but the output was written");
        return;
    }
    let shape: Vec<usize> = input.sizes.iter().map(|&size| size as usize).collect();
    let limit = shape[axis as usize];
    let values: Vec<usize> = lengths
        .positions()
        .into_iter()
        .map(|at| counts.number(at, lengths.dtype).min(limit as u64) as usize)
        .collect();
    let sources = oracle::reverse_subsequences(&shape, axis as usize, &values);
    let (from, to) = (input.positions(), output.positions());
    let width = input.dtype.bits().unwrap_or(8) / 8;
    let mut wanted = before;
    for (source_at, to) in sources.into_iter().zip(to) {
        let from = source.offset as usize + from[source_at];
        let to = target.offset as usize + to;
        wanted[to..to + width].copy_from_slice(&source.buffer[from..from + width]);
    }
    assert!(target.buffer == wanted, "differs from the oracle: {desc:?}");
}

fn sizes(choices: &mut Choices<'_>, rank: usize) -> Vec<u32> {
    let mut room = MOST;
    let mut size = || {
        let size = (choices.size() as u64).clamp(1, room);
        room /= size;
        size as u32
    };
    (0..rank).map(|_| size()).collect()
}

/// A valid tensor descriptor.
fn described(
    choices: &mut Choices<'_>,
    level: FeatureLevel,
    role: Role,
    sizes: &[u32],
) -> Described {
    let dtype = choices.pick(level.data_types(role));
    let strides = match choices.below(4) {
        0 => None,
        kind => {
            // Axes in any order, with gaps. Inputs may have strides of 0.
            let mut order: Vec<usize> = (0..sizes.len()).collect();
            let turned = choices.below(sizes.len());
            order.rotate_left(turned);
            let mut strides = vec![0; sizes.len()];
            let mut step = 1;
            for axis in order.into_iter().rev() {
                let repeats = kind == 3 && role != Role::Output && choices.flag();
                strides[axis] = if repeats { 0 } else { step };
                step = step * sizes[axis] + if kind == 2 { choices.below(3) as u32 } else { 0 };
            }
            Some(strides)
        }
    };
    let owned = role != Role::Output && choices.below(8) == 7;
    Described {
        dtype,
        sizes: sizes.to_vec(),
        strides,
        flags: if owned { TENSOR_FLAG_OWNED_BY_DML } else { 0 },
        tensor_type: 1,
        data_type: None,
        extra: choices.pick(&[0, 0, 0, 4, 1, 64]),
        alignment: choices.pick(&[0, 0, 8, 16, 256]),
    }
}

/// Changes one field at random. The result may still be valid by chance.
fn fault(choices: &mut Choices<'_>, tensor: &mut Described) {
    let at = choices.below(8);
    match choices.below(10) {
        0 => tensor.tensor_type = choices.u32(),
        1 => {
            let value = choices.u32() % 16;
            match DType::from_directml(value) {
                Some(dtype) => tensor.dtype = dtype,
                None => tensor.data_type = Some(value),
            }
        }
        2 => tensor.flags = choices.u32(),
        3 => tensor.sizes.push(choices.u32()),
        4 => drop(tensor.sizes.pop()),
        5 => {
            if let Some(size) = tensor.sizes.get_mut(at) {
                *size = choices.u32();
            }
        }
        6 => {
            if let Some(stride) = tensor.strides.iter_mut().flatten().nth(at) {
                *stride = choices.u32();
            }
        }
        7 => tensor.strides = Some((0..at).map(|_| choices.u32()).collect()),
        8 => tensor.extra = choices.u64() as i64,
        _ => tensor.alignment = choices.u32(),
    }
}

/// A buffer, and the range of it that is bound.
struct Bound {
    buffer: Vec<u8>,
    offset: u64,
    size: u64,
    /// Whether the binding may be rejected.
    odd: bool,
}

impl Bound {
    fn new(choices: &mut Choices<'_>, tensor: &Described, noise: &mut Noise) -> Bound {
        let desc = tensor.desc();
        let unit = u64::from(desc.base_offset_alignment.max(1));
        let odd = choices.below(8) == 7 || unit > MOST_BYTES;
        let offset = match odd {
            true => choices.u64() % 300,
            false => unit * choices.below(3) as u64,
        };
        let size = desc.total_size_in_bytes;
        let tail = choices.below(5);
        let short = if odd { choices.below(9) } else { 0 };
        let bytes = (offset + size) as usize + tail;
        let buffer = noise.bytes(bytes.saturating_sub(short));
        let wrong = odd && choices.flag();
        let size = if wrong { choices.u64() } else { size };
        Bound { buffer, offset, size, odd }
    }

    fn number(&self, at: usize, dtype: DType) -> u64 {
        let at = self.offset as usize + at;
        let bytes = &self.buffer[at..];
        match dtype {
            DType::U32 => u32::from_ne_bytes(bytes[..4].try_into().expect("four bytes")).into(),
            _ => u64::from_ne_bytes(bytes[..8].try_into().expect("eight bytes")),
        }
    }
}

/// Replaces the lengths by values of which most do not exceed the size of the axis.
fn small(counts: &mut Bound, lengths: &Described, size: u32, noise: &mut Noise) {
    for at in lengths.positions() {
        let at = counts.offset as usize + at;
        let value = noise.next() % (u64::from(size) + 2);
        match (lengths.dtype, counts.buffer.get_mut(at..)) {
            (DType::U32, Some(bytes)) if bytes.len() >= 4 => {
                bytes[..4].copy_from_slice(&(value as u32).to_ne_bytes());
            }
            (DType::U64, Some(bytes)) if bytes.len() >= 8 => {
                bytes[..8].copy_from_slice(&value.to_ne_bytes());
            }
            _ => {}
        }
    }
}
