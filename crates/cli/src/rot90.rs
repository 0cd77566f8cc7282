//! `retrograde rot90`: rotates a tensor by quarter turns, with the rules of `numpy.rot90`.
//!
//! An odd number of quarter turns swaps two axes and reverses one of them. The input is read
//! through a view with swapped strides, so that the elements move once.

use crate::args::Rot90Arguments;
use crate::task::Task;
use crate::{load, report, work};
use anyhow::{Result, bail};
use retrograde::Reverse;
use retrograde_io::{FilesRead, Output, Saving};

/// A rotation: the axes to swap, if any, and then those to reverse.
#[derive(Debug, PartialEq, Eq)]
struct Rotation {
    swapped: Option<(usize, usize)>,
    reversed: Vec<usize>,
}

/// Rotates a file.
pub(crate) fn run(arguments: &Rot90Arguments) -> Result<()> {
    let output = &arguments.output;
    report::check_stdout(output)?;
    let saving =
        Saving { format: arguments.to, force: arguments.force, keep: FilesRead::default() };
    let opening = arguments.input.opening(Some(output), &saving.keep);
    let before = load::tensor(&arguments.input.input, &opening)?;
    let rotation = rotation(before.layout().rank(), arguments.k, arguments.axes.0)?;
    let mut order: Vec<usize> = (0..before.layout().rank()).collect();
    if let Some((first, second)) = rotation.swapped {
        order.swap(first, second);
    }
    let src = before.layout().permuted(&order)?;
    let axes = rotation.reversed.iter().map(|&axis| axis as i64);
    let task = Task::Reverse { operator: Reverse::axes(axes), axes: rotation.reversed.clone() };

    let mut after = Output::like_swapped(&before, rotation.swapped, output.clone(), &saving)?;
    work::reverse(&task, &src, &before, &mut after)?;
    let size = after.data_bytes();
    let how = format!("rotated by {} degrees", 90 * arguments.k.rem_euclid(4));
    let saved = report::saved(after.location(), after.element_type(), after.layout(), size, &how);
    let completed = Output::complete_all(vec![after])?;
    // Windows cannot replace a file that is mapped.
    drop(before);
    completed.publish()?;
    report::say(&saved);
    Ok(())
}

/// Checks the arguments by NumPy's rules.
fn rotation(rank: usize, k: i64, axes: [i64; 2]) -> Result<Rotation> {
    let mut resolved = [0; 2];
    for (at, &axis) in axes.iter().enumerate() {
        let from_start = if axis < 0 { axis.checked_add_unsigned(rank as u64) } else { Some(axis) };
        let found = from_start.and_then(|axis| usize::try_from(axis).ok());
        let Some(axis) = found.filter(|&axis| axis < rank) else {
            bail!("rot90: axes[{at}] is {axis}, out of range for a tensor of rank {rank}");
        };
        resolved[at] = axis;
    }
    let [first, second] = resolved;
    if first == second {
        bail!("rot90: axes are both axis {first}: they must be different");
    }
    // Swapping two axes is a reflection; reversing one of them completes the rotation.
    let (swapped, reversed) = match k.rem_euclid(4) {
        0 => (None, vec![]),
        1 => (Some((first, second)), vec![first]),
        2 => (None, vec![first.min(second), first.max(second)]),
        _ => (Some((first, second)), vec![second]),
    };
    Ok(Rotation { swapped, reversed })
}
