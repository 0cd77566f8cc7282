"""Adapter for the reference evaluator of the onnx package."""

from onnx_models import kept
from protocol import from_numpy, serve


def start():
    import onnx
    from onnx.reference import ReferenceEvaluator

    evaluator = kept(ReferenceEvaluator)

    def run(call):
        feeds = {"x": call.input.numpy(), "lens": call.argument.numpy()}
        return from_numpy(evaluator(call).run(None, feeds)[0], call.input.dtype)

    return onnx.__version__, run


if __name__ == "__main__":
    serve("onnx-reference", ["ReverseSequence"], start, "pip install onnx")
