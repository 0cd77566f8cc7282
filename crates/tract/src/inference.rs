//! The operator while a model is analysed: what its types and shapes say about each other.

use crate::ReverseSequence;
use tract_onnx::tract_hir::internal::*;

/// A node as the model declares it.
#[derive(Debug, Clone)]
pub(crate) struct Declared(pub(crate) ReverseSequence);

impl Expansion for Declared {
    fn name(&self) -> StaticName {
        "ReverseSequence".into()
    }

    fn rules<'r, 'p: 'r, 's: 'r>(
        &'s self,
        s: &mut Solver<'r>,
        inputs: &'p [TensorProxy],
        outputs: &'p [TensorProxy],
    ) -> InferenceResult {
        check_input_arity(inputs, 2)?;
        check_output_arity(outputs, 1)?;
        s.equals(&inputs[0].datum_type, &outputs[0].datum_type)?;
        s.equals(&inputs[0].shape, &outputs[0].shape)?;
        s.equals(&inputs[1].rank, 1)?;
        s.given(&inputs[0].rank, move |_, rank| self.0.check_rank(rank as usize))?;
        // The batch and the lengths are not made equal here: exporters give two symbols to them, and
        // tract would refuse the model. Sizes are compared in the typed model and in each run.
        Ok(())
    }

    fn wire(
        &self,
        prefix: &str,
        model: &mut TypedModel,
        inputs: &[OutletId],
    ) -> TractResult<TVec<OutletId>> {
        model.wire_node(prefix, self.0.clone(), inputs)
    }
}
