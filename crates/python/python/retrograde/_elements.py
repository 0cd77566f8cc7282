"""Tensors of any library as arrays of NumPy, and their elements as text: numbers short, strings bare, whatever else
there is as it prints itself."""

import math
import unicodedata

import numpy as np

from . import _kinds

#: Significant digits of a float: a picture shows what moves, not every bit of it.
DIGITS = 4
#: They would turn the order of a line round.
_BIDIRECTIONAL = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def array_of(x):
    """The tensor as an array, on the CPU; types that NumPy does not have become float32."""
    if isinstance(x, np.ndarray):
        # Masked arrays show what is masked; other kinds may index in their own ways.
        return x if isinstance(x, np.ma.MaskedArray) else np.asarray(x)
    if _kinds._is(x, "torch", "Tensor"):
        import torch

        x = x.detach().cpu().resolve_conj().resolve_neg()
        try:
            return x.numpy()
        except TypeError:
            return x.to(torch.float32).numpy()
    if _kinds._is(x, "cupy", "ndarray"):
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


def is_text(dtype):
    """Whether elements line up at their left edge."""
    return dtype.kind in "SUT"


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
    """The fewest digits that mean the same value, but no fraction beyond DIGITS."""
    number = float(value)
    size = abs(number)
    if not math.isfinite(number):
        return str(number)
    # Outside of this range there would be more zeros than digits.
    is_plain = number == 0 or 1e-4 <= size < 1e9
    # Every digit before the point is shown.
    whole = len(f"{size:.0f}") if is_plain else 1
    for decimals in range(whole - 1, max(whole, DIGITS)):
        short = f"{number:.{decimals}e}"
        if dtype.type(float(short)) == value:
            break
    if not is_plain:
        return short
    plain = np.format_float_positional(float(short), trim="-")
    return "-0" if plain == "0" and math.copysign(1, number) < 0 else plain


def printable(text):
    """The text with everything escaped that could steer a terminal, or that XML has no place for."""
    return "".join(map(_printable, text))


def _printable(character):
    if character.isprintable() and character not in _BIDIRECTIONAL:
        return character
    is_harmless = unicodedata.category(character) in ("Zs", "Cf", "Co") and character not in _BIDIRECTIONAL
    if is_harmless:
        return character
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
