"""Adapter for Retrograde's Python package. ONNX's operator goes through its ONNX backend."""

from onnx_models import kept
from protocol import Unsupported, from_numpy, serve


def start():
    import numpy as np
    import retrograde
    from retrograde import onnx_backend

    model = kept(onnx_backend.prepare)

    def array(tensor):
        # Lists have no type if they are empty, so arrays stay arrays.
        return np.ascontiguousarray(tensor.numpy())

    def run(call):
        x, argument, attributes = array(call.input).reshape(call.input.shape), call.argument, call.attributes
        argument = array(argument).reshape(argument.shape)
        if call.mask is not None:
            attributes = {**attributes, "where": call.mask.numpy()}
        if call.operator == "Flip":
            y = retrograde.reverse(x, argument, duplicates="error", **attributes)
        elif call.operator == "Reverse" and attributes["mode"] == "mask" and argument.dtype == np.uint8:
            raise Unsupported("the function also takes masks of 0 and 1, as its text says")
        elif call.operator == "Reverse" and attributes["mode"] == "mask":
            y = retrograde.reverse(x, mask=argument)
        elif call.operator == "Reverse":
            y = retrograde.reverse(x, argument)
        elif call.operator == "ReverseSequence":
            (y,) = model(call).run([x, argument])
        elif call.operator == "ReverseSequenceAnyAxes":
            y = retrograde.reverse_sequence(x, argument, **attributes)
        elif call.operator == "ReverseSubsequences" and argument.ndim < x.ndim:
            raise Unsupported("the function also takes lengths without the axis, as its text says")
        elif call.operator == "ReverseSubsequences":
            y = retrograde.reverse_subsequences(x, argument, **attributes)
        elif call.operator == "ReverseSegments":
            y = retrograde.reverse_segments(x, argument, **attributes)
        elif call.operator == "Orient":
            y = retrograde.orient(x, axes=tuple(argument.tolist()), **attributes)
        else:
            raise Unsupported(call.operator)
        return from_numpy(y, call.input.dtype)

    return retrograde.__version__, run


if __name__ == "__main__":
    operators = ["Reverse", "Flip", "ReverseSequence", "ReverseSequenceAnyAxes", "ReverseSubsequences"]
    operators += ["ReverseSegments", "Orient"]
    serve("retrograde-python", operators, start, "pip install retrograde onnx ml_dtypes", ["where"])
