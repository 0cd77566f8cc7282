"""The reverse complement of letters: one pass, in which a table is looked up in what is reversed."""

import numpy as np

from . import _engine, _table, _where
from ._libraries import is_a


def reverse_complement(x, axis, lengths, offsets, where, strict, rna, out):
    if isinstance(x, (str, bytes, bytearray)):
        return _of_text(x, axis, lengths, offsets, where, strict, rna, out)
    name, _, *arguments = described(x, axis, lengths, offsets, where, strict)
    return _table.look_up(name, x, _engine.complements(rna), out, *arguments)


def described(x, axis, lengths, offsets, where, strict):
    """The operator that moves the letters, the tensor, and the operator's other arguments."""
    if lengths is not None and offsets is not None:
        raise TypeError("reverse_complement: lengths and offsets are both given: omit one of them")
    x = _table.readable(x)
    _check_type(x)
    axis, size = _axis(axis, x.shape)
    if strict:
        there, *given = (_on_host(value) for value in (x, lengths, offsets, where))
        name, letters, *rest = described(np.asarray(there), axis, *given, False)
        _engine.check_letters(name, letters.view(np.uint8), *rest)
    if offsets is not None:
        name, counts = "reverse_segments", offsets if where is None else _where.offsets(offsets, where)
        arguments = (counts, axis)
    elif lengths is not None or where is not None:
        name = "reverse_subsequences"
        lanes = (*x.shape[:axis], *x.shape[axis + 1 :])
        lengths = np.full(lanes, size) if lengths is None else lengths
        if where is not None:
            lengths = _where.lengths("ReverseSubsequences", lengths, where, axis=axis)
        arguments = (lengths, axis, "strict", "start", "keep")
    else:
        name, arguments = "reverse", (axis, None, "set")
    return name, x, *arguments


def _on_host(x):
    """A copy that NumPy can read of what is on a device, and others as they are."""
    if is_a(x, "torch", "Tensor"):
        return x.detach().cpu()
    return x.get() if is_a(x, "cupy", "ndarray") else x


def _of_text(x, axis, lengths, offsets, where, strict, rna, out):
    if out is not None:
        raise TypeError(f"out is not supported: x is of type {type(x).__name__}")
    letters = np.frombuffer(x.encode("ascii") if isinstance(x, str) else x, np.uint8)
    moved = reverse_complement(letters, axis, lengths, offsets, where, strict, rna, None).tobytes()
    return moved.decode("ascii") if isinstance(x, str) else type(x)(moved)


def _check_type(x):
    kind = str(x.dtype).removeprefix("torch.")
    if kind in ("uint8", "int8", "|S1", "|V1"):
        return
    if isinstance(x, np.ndarray) and x.dtype.kind == "S":
        raise TypeError(
            f"reverse_complement: x has type {kind}, strings of up to {x.dtype.itemsize} letters: pass"
            ' np.strings.str_len(x) as lengths and x.view("S1").reshape(*x.shape, -1)'
        )
    raise TypeError(
        f"reverse_complement: x has type {kind}, expected letters of one byte (uint8, int8, S1); of one-hot arrays it is"
        " flip(x, (axis of letters, axis of channels)), if channels are in the order ACGT"
    )


def _axis(axis, shape):
    rank = len(shape)
    if not -rank <= axis < rank:
        raise ValueError(f"reverse_complement: axis is {axis}, outside [{-rank}, {rank - 1}] for a tensor of rank {rank}")
    return axis % rank, shape[axis]
