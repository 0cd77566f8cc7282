"""Adapter for ONNX Runtime with Retrograde's execution provider, as the package registers it."""

from onnx_models import key, sequence_model
from protocol import from_numpy, serve


def start():
    import onnx  # noqa: F401  models are made with it
    import onnxruntime as ort
    import retrograde.onnxruntime as plugin

    ort.set_default_logger_severity(4)
    sessions = {}

    def session(call):
        one = key(call)
        if one not in sessions:
            model = sequence_model(call).SerializeToString()
            sessions[one] = plugin.session(model, min_bytes=0, strings=True)
        return sessions[one]

    def run(call):
        feeds = {"x": call.input.numpy(), "lens": call.argument.numpy()}
        return from_numpy(session(call).run(None, feeds)[0], call.input.dtype)

    return ort.__version__, run


if __name__ == "__main__":
    serve("onnxruntime-plugin", ["ReverseSequence"], start, "pip install retrograde onnxruntime onnx")
