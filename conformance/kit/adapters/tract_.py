"""Adapter for tract, which reads ONNX."""

from onnx_models import key, sequence_model
from protocol import Unsupported, from_numpy, serve


def start():
    import tempfile
    from importlib.metadata import version

    import onnx  # noqa: F401  models are made with it
    import tract

    models = {}

    def loaded(call):
        one = key(call)
        if one not in models:
            with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
                file.write(sequence_model(call).SerializeToString())
                file.flush()
                models[one] = tract.onnx().load(file.name).into_model().into_runnable()
        return models[one]

    def run(call):
        if call.input.dtype == "string":
            raise Unsupported("the Python package has no strings")
        values = [call.input.numpy().copy(), call.argument.numpy().copy()]
        (out,) = loaded(call).run(values)
        return from_numpy(out.to_numpy(), call.input.dtype)

    return version("tract"), run


if __name__ == "__main__":
    serve("tract", ["ReverseSequence"], start, "pip install tract onnx")
