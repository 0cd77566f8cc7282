"""Adapter for tract, which reads ONNX."""

from onnx_models import kept
from protocol import Unsupported, from_numpy, serve


def start():
    import tempfile
    from importlib.metadata import version

    import onnx  # noqa: F401  models are made with it
    import tract

    def load(model):
        with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
            file.write(model.SerializeToString())
            file.flush()
            return tract.onnx().load(file.name).into_model().into_runnable()

    loaded = kept(load)

    def run(call):
        if call.input.dtype == "string":
            raise Unsupported("the Python package has no strings")
        values = [call.input.numpy().copy(), call.argument.numpy().copy()]
        (out,) = loaded(call).run(values)
        return from_numpy(out.to_numpy(), call.input.dtype)

    return version("tract"), run


if __name__ == "__main__":
    serve("tract", ["ReverseSequence"], start, "pip install tract onnx")
