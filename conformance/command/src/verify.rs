//! `retrograde verify`: compares the result of another program with ours, bit by bit.

use anyhow::{Result, bail};
use clap::Parser;
use retrograde::{Layout, Reversal, Reverse};
use retrograde_cli::{Input, Operation, Task, open_tensor, with_hint};
use retrograde_io::{FilesRead, Location, Opening, Tensor};
use retrograde_kit::cause;
use retrograde_picture::Movement;
use retrograde_program::report;
use retrograde_truth::call::Call;
use retrograde_truth::extras::Extras;
use retrograde_truth::tensor::{Data, Tensor as KitTensor};
use retrograde_truth::types::{Type, of};

/// Compares the result of another program with ours, bit by bit.
#[derive(Debug, Parser)]
#[command(name = "retrograde-verify", bin_name = "retrograde verify", version)]
pub(crate) struct Arguments {
    /// Print errors only: no summary of what was written, no progress bar
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// The operator
    #[command(subcommand)]
    operation: Operation<Input>,
    /// The result of another program, in any format; - is stdin. Required
    #[arg(long, global = true, value_name = "FILE")]
    against: Option<Location>,
}

/// Prints that both are equal, or fails with the first difference, their number and the likely cause.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    compare(arguments).map_err(with_hint)
}

fn compare(arguments: &Arguments) -> Result<()> {
    // clap cannot require an option that all operators share.
    let Some(against) = &arguments.against else {
        bail!("verify: --against FILE is missing: the result of another program (- is stdin)");
    };
    let input = arguments.operation.files();
    let read = FilesRead::default();
    let before = open_tensor(&input.input, &input.opening(None, &read))?;
    let other = open_tensor(against, &Opening { read: read.clone(), ..Opening::default() })?;
    let task = Task::prepare(&arguments.operation, before.layout(), before.data(), &read)?;
    let (name, operator) = (report::name(against), task.operator());
    // Formats spell a type differently; the text is the same, and says the byte order.
    let (theirs, ours) = (other.element_type().to_string(), before.element_type().to_string());
    if theirs != ours {
        bail!("verify: {operator}: {name} has type {theirs}, expected {ours}");
    }
    let after = task.output(before.layout())?;
    if other.shape() != after.shape() {
        let (got, expected) = (other.shape(), after.shape());
        bail!("verify: {operator}: {name} has shape {got:?}, expected {expected:?}");
    }
    let expected = expected(&task, &before, after.shape())?;
    let got = Reverse::axes([]).to_bytes(&other.view()?)?;
    if got == expected {
        let count = before.layout().len();
        report::say(&format!("{name}: equal, {count} elements of {}", before.element_type()));
        return Ok(());
    }
    // Elements without a name in the kit (records, NumPy text) are compared as bytes.
    let dtype = before.element_type().dtype();
    let known =
        dtype.names().and_then(|names| Type::named(names.name)).filter(|kind| !kind.is_text());
    let Some(kind) = known else {
        let count = got.iter().zip(&expected).filter(|(one, other)| one != other).count();
        let first = got.iter().zip(&expected).position(|(one, other)| one != other).unwrap_or(0);
        bail!(
            "verify: {operator}: {name}: {count} of {} bytes differ, the first at {first}",
            got.len()
        );
    };
    let tensor = |shape: &[usize], bytes: Vec<u8>| KitTensor {
        dtype: kind,
        shape: shape.to_vec(),
        data: Data::Bytes(bytes),
    };
    let input = tensor(before.shape(), Reverse::axes([]).to_bytes(&before.view()?)?);
    let (expected, got) = (tensor(after.shape(), expected), tensor(after.shape(), got));
    let differs = |at: &usize| got.bits(*at) != expected.bits(*at);
    let (count, first) = ((0..got.len()).filter(differs).count(), (0..got.len()).find(differs));
    let none = Extras::default();
    let likely = call_of(&task, before.shape()).and_then(|(call, argument)| {
        cause::likely(&call, &input, &argument, &none, (&expected, &got))
    });
    let cause = likely.map_or(String::new(), |cause| format!("; likely cause: {cause}"));
    let Some(first) = first else {
        bail!("verify: {operator}: {name}: all elements are equal{cause}");
    };
    let (index, total) = (index_of(first, after.shape()), got.len());
    let (is, should) = (got.text(first), expected.text(first));
    bail!(
        "verify: {operator}: {name}: {count} of {total} elements differ, the first at {index:?}: {is}, \
         expected {should}{cause}"
    )
}

/// Our result, dense and in row-major order.
fn expected(task: &Task, before: &Tensor, shape: &[usize]) -> Result<Vec<u8>> {
    let dense = Layout::dense(before.layout().dtype(), shape)?;
    let mut out = vec![0u8; dense.byte_len()];
    let memory = before.view()?;
    task.prepared(before.layout(), &dense, |checked| {
        checked
            .pieces(usize::MAX)
            .try_for_each(|piece| piece.execute(memory.memory(), &mut out[..]))
    })?;
    Ok(out)
}

/// The call as the kit has it, to guess a cause, if it has it.
fn call_of(task: &Task, shape: &[usize]) -> Option<(Call, KitTensor)> {
    if !task.note().is_empty() {
        return None; // The kit has neither masks nor tables.
    }
    let integers = |values: Vec<i128>| KitTensor::integers(of("i64"), &values);
    let lengths = |lanes: Vec<usize>| {
        let count: usize = lanes.iter().product();
        let values = (0..count).map(|at| task.length(&index_of(at, &lanes))).collect();
        integers(values).reshaped(&lanes)
    };
    Some(match task.movement() {
        Movement::Axes(axes) => (
            Call::Reverse { mask: false },
            integers(axes.iter().map(|&axis| axis as i128).collect()),
        ),
        Movement::Sequence { time, batch, .. } => {
            let call = Call::AnySequence { time: time as i64, batch: batch as i64 };
            (call, lengths(vec![shape[batch]]))
        }
        Movement::Lanes { axis, .. } => {
            let mut lanes = shape.to_vec();
            lanes[axis] = 1;
            (Call::Subsequences { axis: axis as i64 }, lengths(lanes))
        }
        Movement::Segments { axis, offsets } => {
            let offsets = offsets.iter().map(|&offset| offset as i128).collect();
            (Call::Segments { axis: axis as i64 }, integers(offsets))
        }
        Movement::Orient { .. } => return None,
    })
}

/// The index of the element at a position in row-major order.
fn index_of(mut position: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (at, &size) in index.iter_mut().zip(shape).rev() {
        (*at, position) = (position % size.max(1), position / size.max(1));
    }
    index
}
