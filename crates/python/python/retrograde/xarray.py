"""The operators for xarray, by names of dimensions: an accessor ``.retrograde`` of DataArrays and Datasets.

>>> import numpy as np, xarray as xr, retrograde.xarray
>>> x = xr.DataArray([[1, 2, 3], [4, 5, 6]], {"lat": [-30, 30], "lon": [0, 120, 240]}, ("lat", "lon"))
>>> y = x.retrograde.flip("lat")
>>> y.values
array([[4, 5, 6],
       [1, 2, 3]])
>>> y.lat.values
array([ 30, -30])

``flip`` moves labels along with the data: coordinates and indexes, multi-indexes too. It is
``isel(lat=slice(None, None, -1))`` with a contiguous result. All other operators move the data and leave
coordinates where they are.

Names, attributes and encodings stay. Dask arrays stay lazy (:mod:`retrograde.dask`), and so do arrays of
cubed; NumPy arrays become new contiguous ones. Of a Dataset, variables without the dimensions that a
call names stay as they are.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import count
from typing import Generic, TypeVar

import xarray as xr

from . import _row_major
from . import _xarray_cubed as cubed
from ._typing import Align, Duplicates, Lengths, Policy, Tail

__all__ = ["Reversals"]

_LabelledT = TypeVar("_LabelledT", xr.DataArray, xr.Dataset)


@xr.register_dataset_accessor("retrograde")
@xr.register_dataarray_accessor("retrograde")
class Reversals(Generic[_LabelledT]):
    """The operators of a DataArray or a Dataset, as ``x.retrograde``."""

    def __init__(self, x: _LabelledT) -> None:
        self._x = x

    def flip(self, dims: Hashable | Iterable[Hashable] | None = None) -> _LabelledT:
        """Flips dimensions, all of them by default: the data, coordinates and indexes.

        >>> x = xr.DataArray([1, 2, 3], {"t": [10, 20, 30]}, "t", attrs={"units": "K"})
        >>> y = x.retrograde.flip("t")
        >>> y.values, y.t.values, y.attrs
        (array([3, 2, 1]), array([30, 20, 10]), {'units': 'K'})
        """
        dims = self._several("flip", dims)
        for at, dim in enumerate(dims):
            if dim in dims[:at]:
                raise ValueError(f"flip: repeated dim: dims[{at}] is {dim!r}, as dims[{dims.index(dim)}] is")

        def whole(dataset):
            variables = {name: _flipped("flip", v, dims) for name, v in dataset.data_vars.items()}
            # Coordinates with an index are flipped by xarray, together with it.
            others = [name for name in dataset.variables if name not in dataset.xindexes]
            labels = dataset.drop_vars(others).isel(dict.fromkeys(dims, slice(None, None, -1)), missing_dims="ignore")
            coordinates = {name: v.variable for name, v in labels.coords.items()}
            for name, variable in dataset.coords.items():
                if name not in coordinates:
                    coordinates[name] = _flipped("flip", variable, dims)
            coordinates = {name: coordinates[name] for name in dataset.coords}
            result = xr.Dataset(variables, xr.Coordinates(coordinates, labels.xindexes), dataset.attrs)
            result.encoding = dict(dataset.encoding)
            return result

        return self._applied(whole)

    def reverse(
        self, dims: Hashable | Iterable[Hashable] | None = None, *, duplicates: Duplicates = "set"
    ) -> _LabelledT:
        """Reverses the data along dimensions, all of them by default; coordinates stay.

        ``duplicates`` is that of :func:`retrograde.reverse`.

        >>> x = xr.DataArray([1, 2, 3], {"t": [10, 20, 30]}, "t")
        >>> y = x.retrograde.reverse("t")
        >>> y.values, y.t.values
        (array([3, 2, 1]), array([10, 20, 30]))
        """
        dims = self._several("Reverse", dims)
        if duplicates not in ("set", "error"):
            raise ValueError(f'Reverse: duplicates "{duplicates}" does not exist, expected "set" or "error"')
        for at, dim in enumerate(dims):
            if duplicates == "error" and dim in dims[:at]:
                raise ValueError(
                    f"Reverse: dims[{at}] is {dim!r}, the same dimension as dims[{dims.index(dim)}],"
                    " expected distinct dimensions"
                )
        return self._each(lambda variable: _flipped("reverse", variable, dims))

    def reverse_sequence(
        self,
        dim: Hashable,
        lengths: xr.DataArray | Lengths,
        *,
        batch_dim: Hashable | None = None,
        policy: Policy = "strict",
        align: Align = "start",
        tail: Tail = "keep",
    ) -> _LabelledT:
        """Reverses the first steps of every sequence along ``dim``, each by its length; coordinates stay.

        ``lengths`` is a one-dimensional DataArray, whose dimension is that of the sequences, or a mask with
        both dimensions. If both have labels, it is aligned by them, in whatever order they are. Or it is
        array-like, and ``batch_dim`` is the name of that dimension. The other arguments are those of :func:`retrograde.reverse_sequence`.

        >>> x = xr.DataArray([[1, 2, 3], [4, 5, 6]], {"who": ["a", "b"]}, ("who", "time"))
        >>> lengths = xr.DataArray([2, 3], {"who": ["b", "a"]}, "who")
        >>> x.retrograde.reverse_sequence("time", lengths).values
        array([[3, 2, 1],
               [5, 4, 6]])
        """
        name = "ReverseSequence"
        self._known(name, "dim", dim)
        if isinstance(lengths, xr.DataArray):
            others = tuple(other for other in lengths.dims if lengths.dtype != bool or other != dim)
            if len(others) != 1 or batch_dim not in (None, *others):
                expected = "one" if batch_dim is None else f"({batch_dim!r},)"
                raise ValueError(f"{name}: lengths have dimensions {lengths.dims}, expected {expected}")
            (batch_dim,) = others
        elif batch_dim is None:
            raise TypeError(f"{name}: lengths are of type {type(lengths).__name__}: pass a DataArray, or batch_dim=")
        self._known(name, "batch_dim", batch_dim)
        if batch_dim == dim:
            raise ValueError(f"{name}: dim and batch_dim are both {dim!r}, they must differ")
        if isinstance(lengths, xr.DataArray):
            # A mask has the steps as a dimension too.
            lengths = self._aligned(name, lengths).transpose(batch_dim, ...).data
        options = {"policy": policy, "align": align, "tail": tail}

        def call(variable):
            axes = {"time_axis": variable.get_axis_num(dim), "batch_axis": variable.get_axis_num(batch_dim)}
            return _call("reverse_sequence", variable, lengths, **axes, **options)

        return self._each(lambda variable: call(variable) if {dim, batch_dim} <= {*variable.dims} else variable)

    def reverse_subsequences(
        self,
        dim: Hashable,
        lengths: xr.DataArray | Lengths,
        *,
        policy: Policy = "clamp",
        align: Align = "start",
        tail: Tail = "keep",
    ) -> _LabelledT:
        """Reverses the first elements of every lane along ``dim``, each by its own length; coordinates stay.

        ``lengths`` is a DataArray with any of the other dimensions, in any order; it is repeated along those
        that it does not have. A mask has ``dim`` as well. If both have labels, it is aligned by them. For a DataArray, it may be
        array-like too. The other arguments are those of :func:`retrograde.reverse_subsequences`.

        >>> x = xr.DataArray([[1, 2, 3], [4, 5, 6]], dims=("who", "time"))
        >>> x.retrograde.reverse_subsequences("time", xr.DataArray([2, 9], dims="who")).values
        array([[2, 1, 3],
               [6, 5, 4]])
        """
        name = "ReverseSubsequences"
        self._known(name, "dim", dim)
        named = isinstance(lengths, xr.DataArray)
        if not named and isinstance(self._x, xr.Dataset):
            raise TypeError(f"{name}: lengths are of type {type(lengths).__name__}, expected a DataArray for a Dataset")
        if named:
            masked = lengths.dtype == bool
            if (dim in lengths.dims) != masked:
                state = "is a mask without" if masked else "have"
                raise ValueError(f"{name}: lengths {state} the dimension {dim!r}, which is reversed")
            for other in lengths.dims:
                self._known(name, "a dimension of lengths", other)
            lengths = self._aligned(name, lengths).variable

        def call(variable):
            given = lengths
            if named:
                others = {d: n for d, n in variable.sizes.items() if masked or d != dim}
                given = lengths.set_dims(others).transpose(*others).data
            axis = variable.get_axis_num(dim)
            return _call("reverse_subsequences", variable, given, axis=axis, policy=policy, align=align, tail=tail)

        needed = {dim, *lengths.dims} if named else {dim}
        return self._each(lambda variable: call(variable) if needed <= {*variable.dims} else variable)

    def reverse_segments(self, dim: Hashable, offsets: xr.DataArray | Lengths) -> _LabelledT:
        """Reverses every segment of ``dim`` that is cut by offsets; coordinates stay.

        ``offsets`` is array-like, or a one-dimensional DataArray, whose labels are ignored. See
        :func:`retrograde.reverse_segments`.

        >>> xr.DataArray([1, 2, 3, 4, 5], dims="token").retrograde.reverse_segments("token", [0, 3, 5]).values
        array([3, 2, 1, 5, 4])
        """
        self._known("ReverseSegments", "dim", dim)
        offsets = offsets.data if isinstance(offsets, xr.DataArray) else offsets

        def call(variable):
            return _call("reverse_segments", variable, offsets, axis=variable.get_axis_num(dim))

        return self._each(lambda variable: call(variable) if dim in variable.dims else variable)

    def _several(self, name, dims):
        """Names of dimensions as a tuple; a name may be a tuple too."""
        if dims is None:
            return tuple(self._x.dims)
        if isinstance(dims, str) or not hasattr(dims, "__iter__") or _is_hashable(dims) and dims in self._x.dims:
            self._known(name, "dims", dims)
            return (dims,)
        dims = tuple(dims)
        for at, dim in enumerate(dims):
            self._known(name, f"dims[{at}]", dim)
        return dims

    def _known(self, name, argument, dim):
        known = tuple(self._x.dims)
        if not _is_hashable(dim) or dim not in known:
            raise ValueError(f"{name}: {argument} is {dim!r}, expected one of {known}")

    def _aligned(self, name, lengths):
        """Lengths in the order of our labels."""
        for dim in lengths.dims:
            if dim in self._x.indexes and dim in lengths.indexes:
                ours, theirs = self._x.indexes[dim], lengths.indexes[dim]
                if ours.equals(theirs):
                    continue
                if not theirs.is_unique:
                    again = theirs[theirs.duplicated()][0]
                    raise ValueError(f"{name}: lengths have several entries for {dim}={again!r}")
                places = theirs.get_indexer(ours)
                if (places < 0).any():
                    raise ValueError(f"{name}: lengths have no entry for {dim}={ours[places < 0][0]!r}")
                lengths = lengths.isel({dim: places})
            elif lengths.sizes[dim] != self._x.sizes[dim]:
                size = self._x.sizes[dim]
                raise ValueError(f"{name}: lengths have size {lengths.sizes[dim]} along {dim!r}, expected {size}")
        return lengths

    def _each(self, call):
        """Calls a function for every variable, but not for coordinates."""
        return self._applied(
            lambda dataset: dataset.assign({name: call(v.variable) for name, v in dataset.data_vars.items()})
        )

    def _applied(self, call):
        """Applies a function of Datasets; a DataArray is one while it runs."""
        x = self._x
        if isinstance(x, xr.Dataset):
            return call(x)
        taken = {*x.coords, *x.dims}
        name = next(name for name in map("data{}".format, count()) if name not in taken)
        return call(x.to_dataset(name=name))[name].rename(x.name)


def _is_hashable(value):
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _flipped(operator, x, dims):
    """A variable, flipped along those of the dimensions that it has."""
    variable = x.variable if isinstance(x, xr.DataArray) else x
    axes = tuple(sorted({variable.get_axis_num(dim) for dim in dims if dim in variable.dims}))
    if not axes:
        return variable
    data = variable.data
    if operator == "reverse" and _library(data) == "dask":
        data = _reversed_in_chunks(data, axes)
    else:
        data = getattr(_module(data), operator)(data, axes)
    return _with(variable, data)


def _reversed_in_chunks(data, axes):
    """Reverses whole axes of a Dask array without changing its chunks.

    Coordinates keep their chunks, and those of a Dataset have to agree. An axis whose chunks are not the
    same from both ends is reversed as one segment.
    """
    from . import dask

    for axis in axes:
        if data.chunks[axis] != data.chunks[axis][::-1]:
            data = dask.reverse_segments(data, [0, data.shape[axis]], axis=axis)
    return dask.reverse(data, [axis for axis in axes if data.chunks[axis] == data.chunks[axis][::-1]])


def _call(operator, variable, lengths, **arguments):
    data = variable.data
    if _library(lengths) in ("dask", "cubed") and _library(data) != "dask":
        lengths = lengths.compute()
    return _with(variable, getattr(_module(data), operator)(data, lengths, **arguments))


def _with(variable, data):
    """A variable with other data, and the same dimensions, attributes and encoding."""
    return xr.Variable(variable.dims, data, variable.attrs, variable.encoding, fastpath=True)


def _library(data):
    return type(data).__module__.partition(".")[0]


def _module(data):
    """The functions for a kind of array."""
    library = _library(data)
    if library == "dask":
        from . import dask

        return dask
    return cubed if library == "cubed" else _row_major
