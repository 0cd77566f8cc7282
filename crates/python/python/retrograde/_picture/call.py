"""A call that is shown: its tensor, and where the elements of its result come from."""

import operator
from collections.abc import Iterator

import numpy as np

from .. import _engine
from . import arrays

#: Positions along longer axes are computed: an array of all of them is more than a picture is worth.
LONGEST = 1 << 22

_TITLES = {
    "reverse": "Reverse",
    "reverse_sequence": "ReverseSequence",
    "reverse_subsequences": "ReverseSubsequences",
}


class Call:
    """An operator's name, what it is called on, and its arguments in the engine's order.

    The arguments are checked against the shape; the engine's errors come from here.
    """

    def __init__(self, name, x, arguments):
        self.name, self.array = name, arrays.of(x)
        self.type_name = arrays.type_name(x, self.array)
        self.shape = self.array.shape
        self.rank = len(self.shape)
        # An iterator gives its axes once, and they are read more than once.
        arguments = [list(a) if isinstance(a, Iterator) else a for a in arguments]
        # One element stands for all of them: the shape decides.
        getattr(_engine, f"explain_{name}")(np.broadcast_to(np.uint8(0), self.shape), *arguments)
        self.batch = self.lengths = None
        if name == "reverse":
            self.reversed = self._axes(*arguments)
            return
        lengths, *self._arguments = arguments
        self.lengths = arrays.of(lengths)
        if self.lengths.size == 0:
            # An empty list has no type; NumPy calls it float64.
            self.lengths = self.lengths.astype(np.int64)
        self.reversed = [self._from_start(arguments[1])]
        if name == "reverse_sequence":
            self.batch = self._from_start(arguments[2])
        else:
            sizes = list(self.shape)
            sizes[self.axis] = 1
            self.lengths = self.lengths.reshape(sizes)

    @property
    def axis(self):
        """The axis that lanes run along."""
        return self.reversed[0]

    @property
    def title(self):
        """The operator's name, and what it is called on."""
        axes = ", ".join(map(str, self.reversed))
        if self.batch is not None:
            how = f"time axis {axes}, batch axis {self.batch}"
        else:
            how = f"{'axes' if len(self.reversed) > 1 else 'axis'} {axes}" if axes else "no axis"
        return _TITLES[self.name], f"{self.type_name} {list(self.shape)}  {how}"

    def lengths_vary_over(self, axis):
        if self.lengths is None:
            return False
        return axis == self.batch if self.batch is not None else axis != self.axis

    def length(self, index):
        """Of the lane that this element lies in."""
        if self.batch is not None:
            return int(self.lengths[index[self.batch]])
        at = list(index)
        at[self.axis] = 0
        return int(self.lengths[tuple(at)])

    def is_padding(self, index):
        """Whether this element lies beyond the length of its lane, where nothing moves."""
        return self.lengths is not None and index[self.axis] >= self.length(index)

    def origins(self, shown):
        """For the elements at these indices (a list per axis), where each comes from.

        An array of their shape with the index along each axis last, found by running the operator
        on positions instead of elements, since elements may be equal and still have moved.
        """
        grid = np.stack(np.meshgrid(*shown, indexing="ij"), axis=-1) if shown else np.zeros(0, int)
        for axis in self.reversed:
            # Where lengths do not differ along an axis, one index stands for all.
            cut = [shown[a] if self.lengths_vary_over(a) else [0] for a in range(self.rank)]
            cut[axis] = shown[axis]
            positions = self._run if self.shape[axis] <= LONGEST else self._compute
            grid[..., axis] = positions(axis, cut)
        return grid

    def _run(self, axis, cut):
        """Positions along the axis after the operator; other axes are cut to the indices shown."""
        size = self.shape[axis]
        along = np.arange(size).reshape([-1 if a == axis else 1 for a in range(self.rank)])
        along = np.broadcast_to(along, [size if a == axis else len(cut[a]) for a in range(self.rank)])
        run = getattr(_engine, self.name)
        if self.lengths is None:
            moved = run(along, self.reversed, None, None)
        else:
            moved = run(along, self._lengths_of(axis, cut), *self._arguments, None)
        return np.take(moved, cut[axis], axis=axis)

    def _compute(self, axis, cut):
        """The same without the operator."""
        at = np.reshape(cut[axis], [-1 if a == axis else 1 for a in range(self.rank)])
        if self.lengths is None:
            return self.shape[axis] - 1 - at
        lengths = self._lengths_of(axis, cut)
        if self.batch is not None:
            lengths = lengths.reshape([-1 if a == self.batch else 1 for a in range(self.rank)])
        lengths = np.minimum(lengths, self.shape[axis]).astype(np.int64)
        return np.where(at < lengths, lengths - 1 - at, at)

    def _lengths_of(self, axis, cut):
        if self.batch is not None:
            return self.lengths[cut[self.batch]]
        return self.lengths[np.ix_(*([0] if a == axis else cut[a] for a in range(self.rank)))]

    def _axes(self, axes, mask):
        """Which axes a call of `reverse` names, in order."""
        if mask is not None:
            return [axis for axis, is_reversed in enumerate(mask) if is_reversed]
        if axes is None:
            return list(range(self.rank))
        axes = axes if hasattr(axes, "__iter__") and getattr(axes, "ndim", 1) else [axes]
        return sorted({self._from_start(operator.index(axis)) for axis in axes})

    def _from_start(self, axis):
        return axis + self.rank if axis < 0 else axis
