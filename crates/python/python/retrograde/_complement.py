"""The reverse complement of letters: one pass, in which a table is looked up in what is reversed."""

import sys

import numpy as np

from . import _engine, _where
from ._lengths import array_of
from ._libraries import is_a

#: The letters of nucleic acids, those of IUPAC included, in either case.
LETTERS = np.zeros(256, bool)
LETTERS[np.frombuffer(b"ACGTURYSWKMBDHVNacgturyswkmbdhvn", np.uint8)] = True


def reverse_complement(x, axis, lengths, offsets, where, strict, rna, out):
    if isinstance(x, (str, bytes, bytearray)):
        return _of_text(x, axis, lengths, offsets, where, strict, rna, out)
    name, x, *arguments = described(x, axis, lengths, offsets, where, strict)
    if out is None and is_a(x, "torch", "Tensor"):
        out = sys.modules["torch"].empty_like(x)
    return _engine.look_up(name, x, _engine.complements(rna), out, *arguments)


def described(x, axis, lengths, offsets, where, strict):
    """The operator that moves the letters, the tensor, and the operator's other arguments."""
    if lengths is not None and offsets is not None:
        raise TypeError("reverse_complement: lengths and offsets are both given: omit one of them")
    is_torch = is_a(x, "torch", "Tensor")
    x = x if is_torch else np.asarray(x)
    _check_type(x, is_torch)
    axis, size = _axis(axis, x.shape)
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
    if strict:
        _check_letters(np.asarray(x).view(np.uint8), axis, offsets, None if offsets is not None else lengths, where)
    return name, x, *arguments


def _of_text(x, axis, lengths, offsets, where, strict, rna, out):
    if out is not None:
        raise TypeError(f"out is not supported: x is of type {type(x).__name__}")
    letters = np.frombuffer(x.encode("ascii") if isinstance(x, str) else x, np.uint8)
    moved = reverse_complement(letters, axis, lengths, offsets, where, strict, rna, None).tobytes()
    return moved.decode("ascii") if isinstance(x, str) else type(x)(moved)


def _check_type(x, is_torch):
    kind = str(x.dtype).removeprefix("torch.")
    if kind in ("uint8", "int8", "|S1", "|V1"):
        return
    if not is_torch and x.dtype.kind == "S":
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


def _check_letters(x, axis, offsets, lengths, where):
    """Raises an error for the first byte among those that are complemented that is no letter."""
    strays = np.argwhere(~LETTERS[x])
    for index in strays:
        at = int(index[axis])
        if offsets is not None:
            cuts = array_of(offsets)
            segment = int(np.searchsorted(cuts, at, "right")) - 1
            inside = 0 <= segment < len(cuts) - 1 and (where is None or bool(np.asarray(where)[segment]))
        elif lengths is not None:
            counts = np.asarray(lengths).reshape([size for a, size in enumerate(x.shape) if a != axis])
            inside = at < counts[tuple(np.delete(index, axis))]
        else:
            inside = True
        if inside:
            byte = int(x[tuple(index)])
            raise ValueError(
                f"reverse_complement: x{[int(i) for i in index]} is {chr(byte)!r} ({byte}), expected one of"
                " ACGTURYSWKMBDHVN, in either case"
            )
