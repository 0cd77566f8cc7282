"""Adapter for the reference evaluator of the onnx package."""

from onnx_models import key, sequence_model
from protocol import from_numpy, serve


def start():
    import onnx
    from onnx.reference import ReferenceEvaluator

    evaluators = {}

    def run(call):
        one = key(call)
        if one not in evaluators:
            evaluators[one] = ReferenceEvaluator(sequence_model(call))
        feeds = {"x": call.input.numpy(), "lens": call.argument.numpy()}
        return from_numpy(evaluators[one].run(None, feeds)[0], call.input.dtype)

    return onnx.__version__, run


if __name__ == "__main__":
    serve("onnx-reference", ["ReverseSequence"], start, "pip install onnx")
