"""Arrays of Dask, objects of xarray, and arrays in files, given to the main functions.

The first two go to their modules: results stay lazy and labelled. Arrays in files are refused, because to
read one whole is rarely what was meant.
"""

from operator import index

from . import _axes, _names
from ._libraries import is_a

#: The names of an operator's arguments after the input, in the engine's order.
_ARGUMENTS = {
    "reverse": ("axes", "mask", "duplicates"),
    "reverse_sequence": ("lengths", "time_axis", "batch_axis", "policy", "align", "tail"),
    "reverse_subsequences": ("lengths", "axis", "policy", "align", "tail"),
    "reverse_segments": ("offsets", "axis"),
}
#: Classes of arrays that are read from files or computed when they are used, and what to do with one.
_READ_LATER = {
    ("dask.array", "Array"): "x.compute(), or one of the functions of retrograde.dask",
    ("zarr", "Array"): "x[...] to read it into memory, dask.array.from_zarr(x) to stay lazy,"
    " or the command `retrograde reverse` for a whole store",
    ("h5py", "Dataset"): "x[...] to read it into memory, dask.array.from_array(x) to stay lazy,"
    " or the command `retrograde reverse` for a whole file",
    ("netCDF4", "Variable"): "x[...] to read it into memory, or xarray.open_dataset(..., chunks={}) to stay lazy",
    ("cubed", "Array"): "an xarray.DataArray of it to stay lazy, or x.compute()",
}


def refuse(x, argument="x"):
    """Raises an error for an array that NumPy would read or compute as a whole."""
    for (module, name), way in _READ_LATER.items():
        if is_a(x, module, name):
            raise TypeError(f"{argument} is a {module}.{name}, which is not in memory: pass {way}")


def dask(name, x, *arguments):
    *arguments, out = arguments
    from . import dask

    if out is not None:
        raise TypeError("out is not supported: Dask arrays are computed later")
    return getattr(dask, name)(x, **dict(zip(_ARGUMENTS[name], arguments, strict=True)))


def flip_dask(x, axes, swapped):
    from . import dask

    return dask.reverse(x if swapped is None else x.swapaxes(*swapped), axes)


def labelled(name, x, *arguments):
    """An operator of an object of xarray. An axis is the number or the name of a dimension."""
    *arguments, out = arguments
    if out is not None:
        raise TypeError(f"out is not supported: x is an xarray.{type(x).__name__}")
    given = dict(zip(_ARGUMENTS[name], arguments, strict=True))
    methods = _methods(x)
    if name == "reverse":
        axes, mask, duplicates = given.values()
        if mask is not None:
            axes = _axes.resolved(axes, mask, duplicates, len(x.dims))
        return methods.reverse(None if axes is None else _dims("Reverse", x, axes), duplicates=duplicates)
    if name == "reverse_sequence":
        time, batch = (_dim("ReverseSequence", x, axis, given.pop(axis)) for axis in ("time_axis", "batch_axis"))
        return methods.reverse_sequence(time, given.pop("lengths"), batch_dim=batch, **given)
    operator = "ReverseSubsequences" if name == "reverse_subsequences" else "ReverseSegments"
    dim = _dim(operator, x, "axis", given.pop("axis"))
    return getattr(methods, name)(dim, given.pop(_ARGUMENTS[name][0]), **given)


def named(name, x, *arguments):
    """One of NumPy's functions. Coordinates move along with the data, as they do when a DataArray is sliced."""
    if not hasattr(x, "get_axis_num"):
        if name != "flip":
            raise TypeError(f"{name}: m is a Dataset, whose dimensions have no order: flip(m, ...) takes names")
        return _methods(x).flip(*arguments)
    dims = list(x.dims)
    axes, swapped = getattr(_names, name)(len(dims), *(_numbers(dims, argument) for argument in arguments))
    if swapped is not None:
        first, second = swapped
        dims[first], dims[second] = dims[second], dims[first]
        x = x.transpose(*dims)
    return _methods(x).flip([dims[axis] for axis in axes])


def _numbers(dims, argument):
    """An argument with names of dimensions replaced by numbers of axes."""
    if isinstance(argument, list | tuple):
        return type(argument)(_numbers(dims, one) for one in argument)
    return dims.index(argument) if argument in dims else argument


def _methods(x):
    from . import xarray

    return xarray.Reversals(x)


def _dims(operator, x, axes):
    if isinstance(axes, str) or not hasattr(axes, "__iter__"):
        axes = (axes,)
    return [_dim(operator, x, f"axes[{at}]", axis) for at, axis in enumerate(axes)]


def _dim(operator, x, argument, axis):
    """The name of a dimension; a Dataset has no order of them."""
    dims = tuple(x.dims)
    if axis in dims:
        return axis
    try:
        number = index(axis)
    except TypeError:
        raise ValueError(f"{operator}: {argument} is {axis!r}, expected one of {dims}") from None
    if not hasattr(x, "get_axis_num"):
        raise TypeError(f"{operator}: {argument} is {number}, and a Dataset has no order: expected one of {dims}")
    if not -len(dims) <= number < len(dims):
        raise ValueError(f"{operator}: {argument} is {number}, outside [{-len(dims)}, {len(dims) - 1}] for {dims}")
    return dims[number]
