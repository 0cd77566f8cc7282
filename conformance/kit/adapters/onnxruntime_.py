"""Adapter for ONNX Runtime: its CPU execution provider, or Retrograde's (`plugin`)."""

import sys

from onnx_models import kept
from protocol import from_numpy, serve

PLUGIN = sys.argv[1:] == ["plugin"]


def start():
    import onnx  # noqa: F401  models are made with it
    import onnxruntime as ort

    if PLUGIN:
        from retrograde.onnxruntime import session as with_plugin

        open_session = lambda model: with_plugin(model, min_bytes=0, strings=True)
    else:
        open_session = lambda model: ort.InferenceSession(model, providers=["CPUExecutionProvider"])
    ort.set_default_logger_severity(4)
    session = kept(lambda model: open_session(model.SerializeToString()))

    def run(call):
        feeds = {"x": call.input.numpy(), "lens": call.argument.numpy()}
        return from_numpy(session(call).run(None, feeds)[0], call.input.dtype)

    return ort.__version__, run


if __name__ == "__main__":
    packages = ("retrograde " if PLUGIN else "") + "onnxruntime onnx"
    name = "onnxruntime-plugin" if PLUGIN else "onnxruntime"
    serve(name, ["ReverseSequence"], start, f"pip install {packages}")
