"""Tensors that are not plain NumPy arrays: who reverses them, and how to create results.

This module chooses, and stands above those of the libraries, which do not import it. Modules that import their library
are imported by the functions that need them.
"""

import sys
from functools import partial

import numpy as np

from . import _arrow, _axes, _complement, _engine, _lazy, _names, _table, _torch_private, _where
from ._hints import check_oriented, missing_offsets
from ._lengths import array_of
from ._libraries import is_a, is_arrow, is_on_device, lends_arrow

#: The most classes in each cache: libraries have a few, but programs may define any number.
_MOST = 32
#: Caches of the operators by class of tensor: a lookup takes longer than a small call.
#: Callers check them first.
_reversals, _sequences, _subsequences, _segments = {}, {}, {}, {}
#: A cache of whether a class is PyTorch's.
_torchs = {}
#: :mod:`retrograde.torch`, once a PyTorch tensor was seen.
torch = None


@_torch_private.constant
def _is_torch(kind):
    """Whether tensors of this class are handled by :mod:`retrograde.torch`, which is then loaded.

    A program compiled by ``torch.compile`` depends on the result only. If it depended on our caches,
    the first call would change them, and the second one would compile again.
    """
    known = _torchs.get(kind)
    return _asked_whether_torch(kind) if known is None else known


def _asked_whether_torch(kind):
    global torch
    library = sys.modules.get("torch")
    # While PyTorch is being imported, none of its tensors exist yet.
    tensor, fx = getattr(library, "Tensor", None), getattr(library, "fx", None)
    classes = tuple(c for c in (tensor, getattr(fx, "Proxy", None)) if isinstance(c, type))
    answer = issubclass(kind, classes)
    if answer:
        from . import torch
    if len(_torchs) < _MOST:
        _torchs[kind] = answer
    return answer


def reverse(x, axes, mask, duplicates, out):
    return _function(_reversals, "reverse", x)(x, axes, mask, duplicates, out)


def reverse_sequence(x, *arguments):
    return _function(_sequences, "reverse_sequence", x)(x, *arguments)


def reverse_subsequences(x, *arguments):
    return _function(_subsequences, "reverse_subsequences", x)(x, *arguments)


def reverse_segments(x, *arguments):
    if lends_arrow(x):
        # Not cached: a Series of pandas is one of NumPy's arrays or of Arrow's.
        arrow = arguments[0] is None or is_arrow(x)
        return (_arrow.apply if arrow else _handler(x))("reverse_segments", x, *arguments)
    if is_a(x, "tensorflow", "RaggedTensor"):
        return _function(_segments, "reverse_segments", x, _ragged)(x, *arguments)
    return _function(_segments, "reverse_segments", x, _with_offsets(_handler(x)))(x, *arguments)


def segments_where(x, offsets, axis, where, out):
    """The segments that a mask names."""
    if _is_torch(type(x)):
        return torch._segments_where(x, offsets, axis, where, out)
    if lends_arrow(x) and (offsets is None or is_arrow(x)):
        return _arrow.segments_where(x, offsets, axis, where, out)
    if offsets is not None and _handler(x) in _ENGINES:
        return reverse_segments(x, _where.offsets(offsets, where), axis, out)
    kind = type(x)
    raise TypeError(
        f"reverse_segments: where is for arrays of NumPy, PyTorch, CuPy and Arrow, x is a {kind.__module__}.{kind.__name__}:"
        " pass one of those, or reverse_sequence a padded batch"
    )


def segments_looked_up(x, offsets, axis, where, table, out):
    """The segments, or those that a mask names, with a table."""
    _table.checked("reverse_segments", x, table)
    if offsets is None:
        raise missing_offsets()
    offsets = offsets if where is None else _where.offsets(offsets, where)
    return _table.look_up("reverse_segments", x, table, out, offsets, axis)


def segments_of(x, axis):
    """The values, the offsets and the axis of a tensor that has offsets of its own."""
    if lends_arrow(x):
        return _arrow.segments_of(x, axis)
    if is_a(x, "tensorflow", "RaggedTensor"):
        from . import _tensorflow

        return _tensorflow.segments_of(x, axis)
    if _is_torch(type(x)):
        return torch._segments_of(x, axis)
    raise missing_offsets()


def _with_offsets(handler):
    """The handler of a kind of tensor that has no offsets of its own."""

    def handle(name, x, offsets, *others):
        if offsets is None and isinstance(x, list | tuple) and any(isinstance(one, list | tuple) for one in x):
            raise TypeError(
                f"reverse_segments: x is a {type(x).__name__} of sequences: pass pyarrow.array(x), or their elements"
                " one behind the other, with offsets="
            )
        if offsets is None:
            raise missing_offsets()
        return handler(name, x, offsets, *others)

    return handle


def _is_in_rows(m, rank):
    """Whether this is a row-major array of at least this rank. Its reversal is row-major too, so the engine may be
    called at once, which takes a tenth of the time that the ways of all kinds of tensors take.
    """
    return type(m) is np.ndarray and m.ndim >= rank and m.flags.c_contiguous


def _is_ascending(axis, rank):
    """Whether this is a tuple of two axes that need no further check, as those of a picture."""
    if type(axis) is not tuple or len(axis) != 2:
        return False
    first, second = axis
    return type(first) is int and type(second) is int and 0 <= first < second < rank


def _named(name, m, *arguments):
    """One of NumPy's functions (:mod:`._names`), for any kind of tensor."""
    if _is_torch(type(m)):
        return getattr(torch, name)(m, *arguments)
    handler = _handler(m)
    if handler is _lazy.labelled:
        return _lazy.named(name, m, *arguments)
    flip = _FLIPS[handler]
    if flip is _flip_array_like:
        m, flip = _as_array(m), _engine.flip
    return flip(m, *getattr(_names, name)(_rank(m), *arguments))


def reverse_complement(x, *arguments):
    if lends_arrow(x) and (is_arrow(x) or not isinstance(x, np.ndarray)):
        return _arrow.reverse_complement(x, *arguments)
    return _complement.reverse_complement(x, *arguments)


def orient(x, orientation, axes, orientations, batch_axis, out):
    if _is_torch(type(x)):
        return torch.orient(x, orientation, axes=axes, orientations=orientations, batch_axis=batch_axis, out=out)
    check_oriented(orientation, orientations, batch_axis)
    if orientations is not None:
        return _orient_each(x, orientations, axes, batch_axis, out)
    if out is None:
        return _named("orient", x, orientation, axes)
    axes, swapped = _names.orient_into(_rank(x), orientation, axes, out is x)
    if swapped is not None:
        x = (x if hasattr(x, "swapaxes") else _as_array(x)).swapaxes(*swapped)
    return reverse(x, axes, None, "set", out)


def _orient_each(x, orientations, axes, batch_axis, out):
    handler = _handler(x)
    if handler is _lazy.labelled or handler is _arrow.apply:
        raise TypeError(f"orient: x is a {type(x).__name__}, expected an array or a tensor for orientations")
    if handler is _array_like:
        x, handler = _as_array(x), _array
    shape, batch, numbers, each = _names.orient_each(tuple(x.shape), orientations, axes, batch_axis)
    if handler is _masked:
        mask = np.ma.getmask(x)
        moved = mask if mask is np.ma.nomask else _orient_each(mask, numbers, axes, batch_axis, None)
        data = _orient_each(np.ma.getdata(x), numbers, axes, batch_axis, None if out is None else np.ma.getdata(out))
        return _with_mask(np.ma.array(data) if out is None else out, moved)
    images = (x[(slice(None),) * batch + (at,)] for at in range(len(each)))
    if handler is not _array and handler is not _cupy:
        if out is not None:
            raise TypeError(f"out is not supported for orientations of a {type(x).__name__}")
        library = _library(x) if handler is _dlpack else sys.modules[_STACKS[handler]]
        turned = [_FLIPS[handler](image, *one) for image, one in zip(images, each, strict=True)]
        return library.stack(turned, axis=batch) if turned else x
    if out is None:
        out = (np if handler is _array else sys.modules["cupy"]).empty(shape, x.dtype)
    _names.check_output(x, out, shape, each)
    if handler is _array and not x.dtype.hasobject:
        plane = None if axes is None else tuple(axes)
        _engine.orient_each(x, numbers, plane, batch, out)
        return out
    for at, (image, (flipped, swapped)) in enumerate(zip(images, each, strict=True)):
        to = image if out is x else out[(slice(None),) * batch + (at,)]
        reverse(image if swapped is None else image.swapaxes(*swapped), flipped, None, "set", to)
    return out


def _rank(x):
    if is_arrow(x):
        return 1
    rank = getattr(x, "ndim", None)
    if isinstance(rank, int) and rank >= 0:
        return rank
    if not hasattr(x.shape, "rank"):
        return len(x.shape)
    # A symbolic tensor of TensorFlow, whose ``ndim`` is -1.
    if x.shape.rank is None:
        raise TypeError("x has an unknown rank, expected a known one")
    return x.shape.rank


def _function(known, name, x, handler=None):
    """The operator of this name for tensors of this class, with arguments in the engine's order."""
    function = partial(handler or _handler(x), name)
    if len(known) < _MOST:
        known[type(x)] = function
    return function


def _handler(x):
    if isinstance(x, np.ndarray):
        return _masked if isinstance(x, np.ma.MaskedArray) else _array
    if is_a(x, "jax", "Array"):
        return _jax
    if is_a(x, "tensorflow", "Tensor") or is_a(x, "tensorflow", "Variable"):
        return _tensorflow
    if is_a(x, "cupy", "ndarray"):
        return _cupy
    if is_a(x, "dask.array", "Array"):
        return _lazy.dask
    if any(is_a(x, "xarray", name) for name in ("DataArray", "Dataset")):
        return _lazy.labelled
    if is_arrow(x):
        return _arrow.apply
    return _dlpack if hasattr(x, "__dlpack__") else _array_like


def of(x):
    """A tensor that the engine can read in place of ``x``, to explain or show a call."""
    if isinstance(x, np.ndarray):
        return x
    if is_a(x, "torch", "Tensor"):
        return x.detach()
    if is_a(x, "tensorflow", "Tensor") or is_a(x, "tensorflow", "Variable"):
        from . import _tensorflow

        return _tensorflow.readable(x)
    return x if hasattr(x, "__dlpack__") else _as_array(x)


def is_readable(x):
    """Whether the CPU can read the elements of ``x`` now."""
    if is_a(x, "torch", "Tensor"):
        return x.is_cpu
    if is_a(x, "jax", "Array"):
        from . import jax

        return jax._is_at_hand(x)
    if is_a(x, "tensorflow", "Tensor"):
        from . import _tensorflow

        return _tensorflow._is_eager(x)
    return not is_on_device(x)


def check(x):
    """Raises an error for invalid lengths on the CUDA device of ``x``."""
    if is_a(x, "jax", "Array"):
        from . import jax

        return jax._check(x)
    return _engine.cuda_check(of(x))


def _array(name, x, *arguments):
    return getattr(_engine, name)(x, *arguments)


def _array_like(name, x, *arguments):
    *arguments, out = arguments
    if out is x and out is not None:
        raise TypeError(f"out is of type {type(x).__name__}, which cannot be reversed in place")
    return getattr(_engine, name)(_as_array(x), *arguments, out)


def _as_array(x):
    _lazy.refuse(x)
    array = np.asarray(x)
    if array.dtype == object and array.ndim == 0:
        raise TypeError(f"x is of type {type(x).__name__}, expected an array or a tensor")
    return array


def _masked(name, x, *arguments):
    """Masks are reversed together with their data."""
    *arguments, out = arguments
    if out is not None and not isinstance(out, np.ma.MaskedArray):
        raise TypeError(f"out is of type {type(out).__name__}, expected a masked array as the input is")
    if name == "reverse":
        # They are read twice, and an iterator can be read only once.
        arguments = [_axes.several(argument) for argument in arguments[:2]] + arguments[2:]
    run, mask = getattr(_engine, name), np.ma.getmask(x)
    # In place, the mask is both read and written, so the engine creates a new one.
    moved = mask if mask is np.ma.nomask else run(mask, *arguments, None)
    if out is None:
        out = np.ma.empty_like(x)
    run(np.ma.getdata(x), *arguments, np.ma.getdata(out))
    return _with_mask(out, moved)


def _flip_masked(x, axes, swapped):
    view = x if swapped is None else x.swapaxes(*swapped)
    out = np.ma.empty_like(view, order="C")
    _engine.reverse(np.ma.getdata(view), axes, None, "set", np.ma.getdata(out))
    mask = np.ma.getmask(x)
    return _with_mask(out, mask if mask is np.ma.nomask else _engine.flip(mask, axes, swapped))


def _with_mask(out, mask):
    """Replaces the mask of an output, also a hard one, from which an assignment takes nothing away."""
    hard = out.hardmask
    out.soften_mask()
    out.mask = mask
    return out.harden_mask() if hard else out


def _flip_arrow(x, axes, swapped):
    return _arrow.flip(x, axes)


def _ragged(name, x, offsets, axis, out):
    from . import _tensorflow

    return _tensorflow.reverse_ragged(x, offsets, axis, out)


def _jax(name, x, *arguments):
    *arguments, out = arguments
    from . import jax

    if out is not None:
        raise TypeError("out is not supported: JAX arrays are immutable")
    return jax._apply(name, x, arguments)


def _flip_jax(x, axes, swapped):
    from . import jax

    return jax._flip(x, axes, swapped)


def _tensorflow(name, x, *arguments):
    *arguments, out = arguments
    from . import _tensorflow

    if out is not None:
        raise TypeError("out is not supported: TensorFlow tensors are immutable")
    return _tensorflow.apply(name, x, arguments)


def _flip_tensorflow(x, axes, swapped):
    from . import _tensorflow

    return _tensorflow.flip(x, axes, swapped)


def _cupy(name, x, *arguments):
    *arguments, out = arguments
    fresh = out is None
    if fresh:
        out = sys.modules["cupy"].empty_like(x)
    return getattr(_engine, name)(x, *arguments, out, fresh)


def _flip_cupy(x, axes, swapped):
    view = x if swapped is None else x.swapaxes(*swapped)
    import cupy

    return _engine.reverse(view, axes, None, "set", cupy.empty_like(view, order="C"))


def _dlpack(name, x, *arguments):
    """Any other library, through DLPack: returns its own arrays if it has an array namespace."""
    *arguments, out = arguments
    if out is not None:
        getattr(_engine, name)(x, *arguments, out)
        return out
    library = _library(x, ": pass out=")
    return library.from_dlpack(getattr(_engine, name)(x, *arguments, None))


def _flip_dlpack(x, axes, swapped):
    return _library(x).from_dlpack(_engine.flip(x, axes, swapped))


def _library(x, hint=""):
    """The array namespace of a tensor, which can create others."""
    if not hasattr(x, "__array_namespace__"):
        raise TypeError(
            f"{type(x).__module__}.{type(x).__name__} can be read but not created"
            f" (it has no __array_namespace__){hint}"
        )
    return x.__array_namespace__()


def _flip_array_like(x, axes, swapped):
    return _engine.flip(_as_array(x), axes, swapped)


#: Kinds of tensors on which the engine's functions are called as they are.
_ENGINES = (_array, _array_like, _masked, _cupy, _dlpack)

#: How each kind of tensor flips and turns, by its handler.
_FLIPS = {
    _array: _engine.flip,
    _array_like: _flip_array_like,
    _masked: _flip_masked,
    _jax: _flip_jax,
    _tensorflow: _flip_tensorflow,
    _cupy: _flip_cupy,
    _arrow.apply: _flip_arrow,
    _dlpack: _flip_dlpack,
    _lazy.dask: _lazy.flip_dask,
}


#: The modules with the function that stacks images.
_STACKS = {_jax: "jax.numpy", _tensorflow: "tensorflow", _lazy.dask: "dask.array"}


def kept_lengths(lengths):
    """A copy of lengths that nobody else can change. Lengths on a device are the caller's own."""
    if isinstance(lengths, _engine.Marked):
        return lengths
    if is_a(lengths, "torch", "Tensor"):
        return lengths.detach().clone() if lengths.is_cpu else lengths
    if is_a(lengths, "jax", "Array") or is_a(lengths, "tensorflow", "Tensor"):
        return lengths
    if isinstance(lengths, np.ndarray):
        return lengths.copy()
    if not is_readable(lengths):
        return lengths
    if hasattr(lengths, "__dlpack__") and not hasattr(lengths, "__array__"):
        return np.from_dlpack(lengths).copy()
    return array_of(np.array(lengths))
