//! What some calls have besides: a mask of what is reversed, and a table to look elements up in.

use crate::call::Call;
use crate::oracle;
use crate::tensor::Tensor;
use crate::types::Kind;
use serde_json::Value;

/// The names of these operands, as requests of the protocol have them.
pub const EXTRAS: [&str; 2] = ["where", "table"];

/// The operands of a call that has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extras {
    /// A boolean for each segment, sequence or lane; of whole axes, for each entry of axis 0. Those that
    /// are false stay.
    pub mask: Option<Tensor>,
    /// What each value becomes that is reversed, if only in its own place.
    pub table: Option<Tensor>,
}

impl Extras {
    /// Those that are there, with their names.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, &Tensor)> {
        let each = EXTRAS.into_iter().zip([&self.mask, &self.table]);
        each.filter_map(|(name, tensor)| Some((name, tensor.as_ref()?)))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.named().next().is_none()
    }

    /// Reads them from a request.
    pub fn from_json(request: &Value) -> Result<Extras, String> {
        let read = |name: &str| request.get(name).map(Tensor::from_json).transpose();
        Ok(Extras { mask: read(EXTRAS[0])?, table: read(EXTRAS[1])? })
    }
}

/// The entries of a mask that fits to a call. `argument` is its axes, lengths or offsets.
pub(crate) fn entries(
    call: &Call,
    shape: &[usize],
    argument: &Tensor,
    mask: &Tensor,
) -> Result<Vec<bool>, String> {
    let operator = call.operator();
    let expected = match call {
        Call::Orient { .. } => return Err(format!("{operator} takes no mask")),
        Call::Reverse { .. } | Call::Flip => shape.iter().copied().take(1).collect(),
        Call::Segments { .. } => vec![argument.len().saturating_sub(1)],
        _ => argument.shape.clone(),
    };
    if mask.dtype.kind != Kind::Bool {
        return Err(format!("{operator}: where has type {}, expected bool", mask.dtype.name));
    }
    if mask.shape != expected {
        let got = &mask.shape;
        return Err(format!("{operator}: where has shape {got:?}, expected {expected:?}"));
    }
    Ok((0..mask.len()).map(|at| mask.bits(at) == 1).collect())
}

/// The lengths of a call, with 0 for what stays: such lengths are not looked at. Axes and offsets are
/// as they were.
pub(crate) fn of_what_moves(call: &Call, argument: &Tensor, moves: &[bool]) -> Tensor {
    if call.argument_name() != "lengths" || !argument.dtype.is_integer() {
        return argument.clone();
    }
    let lengths = argument.to_integers().into_iter().zip(moves);
    let lengths: Vec<_> = lengths.map(|(length, &moves)| if moves { length } else { 0 }).collect();
    Tensor::integers(argument.dtype, &lengths).reshaped(&argument.shape)
}

/// The entry of a mask that an element belongs to; `None` if no length or segment reaches it. The call is
/// a valid one.
pub(crate) fn entry_of(
    call: &Call,
    shape: &[usize],
    argument: &[i128],
    index: &[usize],
) -> Option<usize> {
    let axis = |axis: i64| axis.rem_euclid(shape.len() as i64) as usize;
    let (entry, at) = match *call {
        Call::Reverse { .. } | Call::Flip | Call::Orient { .. } => {
            return Some(index.first().map_or(0, |&first| first));
        }
        Call::Segments { axis: along } => {
            let at = index[axis(along)] as i128;
            return argument.windows(2).position(|ends| (ends[0]..ends[1]).contains(&at));
        }
        Call::Sequence { time, batch } | Call::AnySequence { time, batch } => {
            (index[axis(batch)], index[axis(time)])
        }
        Call::Subsequences { axis: along } => {
            let (mut lanes, mut lane) = (shape.to_vec(), index.to_vec());
            (lanes[axis(along)], lane[axis(along)]) = (1, 0);
            (oracle::ordinal(&lanes, &lane), index[axis(along)])
        }
    };
    ((at as i128) < argument[entry]).then_some(entry)
}

/// The elements that are `reversed` as they are in a table.
pub(crate) fn looked_up(
    operator: &str,
    output: &Tensor,
    table: &Tensor,
    reversed: &[bool],
) -> Result<Tensor, String> {
    let (dtype, count) = (output.dtype, 1 << output.dtype.bits.min(8));
    let integers = matches!(dtype.kind, Kind::Signed | Kind::Unsigned);
    if !integers || ![2, 4, 8].contains(&dtype.bits) {
        let got = dtype.name;
        return Err(format!("{operator}: a table looks up integers of 8, 4 or 2 bits, not {got}"));
    }
    if table.dtype.name != "u8" || table.shape != [count] {
        let (kind, got) = (table.dtype.name, &table.shape);
        return Err(format!("{operator}: the table is {kind} {got:?}, expected u8 [{count}]"));
    }
    if let Some(at) = (0..count).find(|&at| table.bits(at) >= count as u128) {
        let entry = table.bits(at);
        return Err(format!("{operator}: table[{at}] = {entry} is outside [0, {count})"));
    }
    let bits = |at: usize| match reversed[at] {
        true => table.bits(output.bits(at) as usize),
        false => output.bits(at),
    };
    let bits: Vec<_> = (0..output.len()).map(bits).collect();
    Ok(Tensor::from_bits(dtype, &output.shape, &bits))
}
