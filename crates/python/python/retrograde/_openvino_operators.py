"""The operators for OpenVINO in Python, for installations without the native library.

They have type names of their own. With the names of OpenVINO's operators, the CPU plugin would infer
shapes by casting them to its classes, which they are not.
"""

import numpy as np
import openvino as ov

from . import _engine

#: Bits of the types of which several elements are in a byte. Those of u1 begin at the high end.
_PACKED = {"u4": 4, "i4": 4, "f4e2m1": 4, "nf4": 4, "u2": 2, "u1": 1}
#: Types whose bits are not next to each other.
_SPLIT = ("u3", "u6")


def extensions(policy):
    """Extensions that create our operators for opset1's, and for our own in models that were saved."""
    made = []
    for name, kind in _KINDS.items():
        attributes = {"policy": policy} if name == "ReverseSequence" else {}
        made.append(_extension(kind, attributes, name, "opset1"))
        made.append(_extension(kind, attributes, *kind.TYPE))
    return made


def node(name, inputs, attributes):
    """An operator with these inputs."""
    return _KINDS[name](inputs, **attributes)


def _extension(kind, attributes, name, version):
    """Creates ``kind`` for nodes of another type.

    OpenVINO asks a first instance of the class that it is given for the type of nodes to handle. The
    class here makes instances of ``kind``, of which the first one answers with the other type.
    """
    info = ov.DiscreteTypeInfo(name, version)

    class Handled(ov.Op):
        is_registered = False

        def __new__(cls):
            made = kind(**attributes)
            if not cls.is_registered:
                made.get_type_info = lambda: info
            return made

    extension = ov.OpExtension(Handled)
    Handled.is_registered = True
    return extension


class _Operator(ov.Op):
    #: Name and version of the type.
    TYPE = None

    def __init__(self, inputs=None, **attributes):
        self._attributes = {**self.DEFAULTS, **attributes}
        super().__init__(self, inputs)

    def get_type_info(self):
        return ov.DiscreteTypeInfo(*self.TYPE)

    def visit_attributes(self, visitor):
        visitor.on_attributes(self._attributes)
        return True

    def clone_with_new_inputs(self, inputs):
        return type(self)(inputs, **self._attributes)

    def validate_and_infer_types(self):
        self._check()
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))

    def has_evaluate(self):
        return True

    def evaluate(self, outputs, inputs):
        data, target = inputs[0], outputs[0]
        target.shape = data.shape
        kind = data.element_type.to_string()
        if kind in _SPLIT:
            raise TypeError(f"{self.NAME}: data has the element type {kind}, which is not supported")
        if kind == "string":
            target.bytes_data = self._run(data.bytes_data, inputs[1], None)
        elif kind in _PACKED:
            moved = self._run(_unpack(data, _PACKED[kind]), inputs[1], None)
            target.data.reshape(-1).view(np.uint8)[:] = _pack(moved, _PACKED[kind])
        else:
            self._run(data.data, inputs[1], target.data)
        return True


class Reverse(_Operator):
    NAME = "Reverse"
    TYPE = ("RetrogradeReverse", "retrograde")
    DEFAULTS = {"mode": "index"}

    def _check(self):
        mode, kind = self._attributes["mode"], self.get_input_element_type(1).to_string()
        rank = self.get_input_partial_shape(1).rank
        if mode not in ("index", "mask"):
            raise ValueError(f'Reverse: mode is {mode!r}, expected "index" or "mask"')
        # The CPU plugin makes u8 of a boolean mask.
        if mode == "mask" and kind not in ("boolean", "u8", "dynamic"):
            raise TypeError(f"Reverse: mask has the element type {kind}, expected boolean")
        if mode == "index" and not (kind[0] in "iu" or kind == "dynamic"):
            raise TypeError(f"Reverse: axes have the element type {kind}, expected an integer type")
        if rank.is_static and rank.get_length() != 1:
            raise ValueError(f"Reverse: {'mask' if mode == 'mask' else 'axes'} has rank {rank.get_length()}, expected 1")

    def _run(self, x, axes, out):
        axes = axes.data
        if self._attributes["mode"] == "mask":
            return _engine.reverse(x, None, axes.astype(bool), "set", out)
        return _engine.reverse(x, axes, None, "set", out)


class ReverseSequence(_Operator):
    NAME = "ReverseSequence"
    TYPE = ("RetrogradeReverseSequence", "retrograde")
    DEFAULTS = {"batch_axis": 0, "seq_axis": 1, "policy": "strict"}

    def _check(self):
        policy, kind = self._attributes["policy"], self.get_input_element_type(1).to_string()
        if policy not in ("strict", "clamp"):
            raise ValueError(f'ReverseSequence: policy is {policy!r}, expected "strict" or "clamp"')
        if kind in ("boolean", "string"):
            raise TypeError(f"ReverseSequence: lengths have the element type {kind}, expected a number type")
        rank = self.get_input_partial_shape(1).rank
        if rank.is_static and rank.get_length() != 1:
            raise ValueError(f"ReverseSequence: lengths has rank {rank.get_length()}, expected 1")

    def _run(self, x, lengths, out):
        lengths, chosen = _whole_numbers(lengths.data), self._attributes
        time, batch = chosen["seq_axis"], chosen["batch_axis"]
        return _engine.reverse_sequence(x, lengths, time, batch, chosen["policy"], "start", "keep", out)


_KINDS = {"Reverse": Reverse, "ReverseSequence": ReverseSequence}


def _whole_numbers(lengths):
    """Lengths of a float type, which OpenVINO allows and the engine does not, as integers."""
    if lengths.dtype.kind != "f":
        return lengths
    for at in np.flatnonzero(~(np.abs(lengths) < 9e18) | (lengths != np.floor(lengths))):
        raise ValueError(f"ReverseSequence: lengths[{at}] is {lengths[at]}, expected a whole number")
    return lengths.astype(np.int64)


def _unpack(tensor, bits):
    """Packed elements, a byte each."""
    packed = tensor.data.reshape(-1).view(np.uint8)
    if bits == 1:
        elements = np.unpackbits(packed)
    else:
        elements = (packed[:, None] >> np.arange(0, 8, bits, np.uint8) & (1 << bits) - 1).reshape(-1)
    return elements[: tensor.size].reshape(tensor.shape)


def _pack(elements, bits):
    flat = elements.reshape(-1)
    if bits == 1:
        return np.packbits(flat)
    flat = np.concatenate([flat, np.zeros(-len(flat) % (8 // bits), np.uint8)]).reshape(-1, 8 // bits)
    return np.bitwise_or.reduce(flat << np.arange(0, 8, bits, np.uint8), axis=1)
