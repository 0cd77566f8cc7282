"""Adapter for ONNX Runtime's CPU execution provider."""

from onnx_models import key, sequence_model
from protocol import from_numpy, serve


def start():
    import onnx  # noqa: F401  models are made with it
    import onnxruntime as ort

    ort.set_default_logger_severity(4)
    sessions = {}

    def session(call):
        one = key(call)
        if one not in sessions:
            model = sequence_model(call).SerializeToString()
            sessions[one] = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
        return sessions[one]

    def run(call):
        feeds = {"x": call.input.numpy(), "lens": call.argument.numpy()}
        return from_numpy(session(call).run(None, feeds)[0], call.input.dtype)

    return ort.__version__, run


if __name__ == "__main__":
    serve("onnxruntime", ["ReverseSequence"], start, "pip install onnxruntime onnx")
