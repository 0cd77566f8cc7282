//! ONNX `ReverseSequence` for [tract](tract_onnx), which does not have it: [`register`] it, and
//! models with it load, optimise and run.
//!
//! ```
//! use tract_onnx::prelude::*;
//!
//! let mut onnx = tract_onnx::onnx();
//! retrograde_tract::register(&mut onnx);
//! let load = |path: &str| onnx.model_for_path(path)?.into_optimized()?.into_runnable();
//! # let _ = load;
//! ```

mod inference;
mod typed;

pub use typed::ReverseSequence;

use inference::Declared;
use retrograde::LengthsOperator;
use tract_onnx::Onnx;
use tract_onnx::model::ParsingContext;
use tract_onnx::pb::NodeProto;
use tract_onnx::tract_hir::internal::*;

/// Makes `ReverseSequence` known to a loader of ONNX models.
///
/// Lengths may be constant or computed, dimensions may be symbols, and elements may have any type
/// of tract, strings too. Lengths outside of `[0, size of the time axis]` are errors.
pub fn register(onnx: &mut Onnx) {
    onnx.op_register.insert("ReverseSequence", parse);
}

fn parse(_: &ParsingContext, node: &NodeProto) -> TractResult<(Box<dyn InferenceOp>, Vec<String>)> {
    let time = node.get_attr_opt::<i64>("time_axis")?.unwrap_or(0);
    let batch = node.get_attr_opt::<i64>("batch_axis")?.unwrap_or(1);
    // The rules of ONNX for the two axes, which do not depend on the rest of the shape.
    let rules = retrograde::ReverseSequence::onnx().time_axis(time).batch_axis(batch);
    rules.lengths_shape(&[1, 1])?;
    let operator = ReverseSequence::new(time as usize, batch as usize);
    Ok((expand(Declared(operator)), vec![]))
}
