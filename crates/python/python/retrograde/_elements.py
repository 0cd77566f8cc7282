"""Tensors of any library as arrays of NumPy, and their elements as text: numbers short, strings bare, whatever else
there is as it prints itself."""

import numpy as np

from . import _engine, _kinds
from ._libraries import is_a


def array_of(x):
    """The tensor as an array, on the CPU; types that NumPy does not have become float32."""
    if isinstance(x, np.ndarray):
        # Masked arrays show what is masked; other kinds may index in their own ways.
        return x if isinstance(x, np.ma.MaskedArray) else np.asarray(x)
    if is_a(x, "torch", "Tensor"):
        import torch

        x = x.detach().cpu().resolve_conj().resolve_neg()
        try:
            return x.numpy()
        except TypeError:
            return x.to(torch.float32).numpy()
    if is_a(x, "cupy", "ndarray"):
        return x.get()
    if hasattr(x, "__dlpack__") and not hasattr(x, "__array__"):
        return np.from_dlpack(x)
    return _kinds._as_array(x)


def type_name(x, array):
    """What the tensor's own library calls its elements."""
    dtype = getattr(x, "dtype", array.dtype)
    if isinstance(dtype, np.dtype):
        name = str(dtype)
        # The order of bytes that the machine has needs no mark.
        return name[1:] if dtype.isnative and name[0] in "<=>|" else name
    return getattr(dtype, "name", None) or str(dtype).rpartition(".")[2]


def kind(dtype):
    """What elements are to a picture: text lines up at its left edge, and bytes may be pixels."""
    return "text" if dtype.kind in "SUT" else "bytes" if dtype == np.uint8 else "numbers"


def text(array, index):
    """The element at an index, fit to print."""
    return printable(_text(array, index))


def _text(array, index):
    value = array[index]
    if value is np.ma.masked:
        return "--"
    dtype, kind = array.dtype, array.dtype.kind
    if kind == "c":
        # Parts of the same precision: 0.1 is 0.1 in each of them.
        part = np.dtype(f"f{dtype.itemsize // 2}")
        real, imaginary = (_number(part.type(half), part) for half in (value.real, value.imag))
        return f"{real}{'' if imaginary.startswith('-') else '+'}{imaginary}j"
    if kind == "f":
        return _number(value, dtype)
    if kind == "S":
        return value.decode("utf-8", "replace")
    if kind == "O":
        return value if isinstance(value, str) else _representation(value)
    if kind == "V" and dtype.fields is None:
        # Plain bytes, or a type that another package has registered (bfloat16, int4).
        return bytes(value).hex() if dtype.type is np.void else _registered(value, dtype)
    return str(value)


def _registered(value, dtype):
    try:
        return _number(value, dtype)
    except (TypeError, ValueError, OverflowError):
        return str(value)


def _representation(value):
    try:
        return repr(value)
    except Exception:
        # An object that cannot say what it is has a type all the same.
        return f"<{type(value).__name__}>"


def _number(value, dtype):
    """A float, as short as in every picture."""
    return _engine.number_text(float(value), lambda short: bool(dtype.type(short) == value))


def printable(text):
    """The text with everything escaped that could steer a terminal, or that XML has no place for."""
    # Surrogates by themselves are no characters.
    return _engine.printable(text.encode("utf-8", "backslashreplace").decode())
