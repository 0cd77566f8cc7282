"""NumPy's functions that flip and turn arrays: their arguments, checked by NumPy's rules.

Each function takes the rank of the tensor and the arguments of NumPy's function of that name. It returns the axes to
reverse and the two axes to swap before that, or None. Axes are not negative. Compilers can trace this code.
"""

import operator

from numpy.exceptions import AxisError


def flip(rank, axis=None):
    if axis is None:
        return tuple(range(rank)), None
    if type(axis) not in (tuple, list):
        try:
            axis = (operator.index(axis),)
        except TypeError:
            pass
    axes = tuple(_axis(at, value, rank) for at, value in enumerate(axis))
    for at, value in enumerate(axes):
        if value in axes[:at]:
            raise ValueError(f"flip: repeated axis: axis[{at}] is axis {value}, as axis[{axes.index(value)}] is")
    return axes, None


def fliplr(rank):
    if rank < 2:
        raise ValueError(f"fliplr: m has rank {rank}, expected at least 2")
    return (1,), None


def flipud(rank):
    if rank < 1:
        raise ValueError(f"flipud: m has rank {rank}, expected at least 1")
    return (0,), None


def rot90(rank, k=1, axes=(0, 1)):
    axes = tuple(operator.index(axis) for axis in axes)
    if len(axes) != 2:
        raise ValueError(f"rot90: axes has {len(axes)} entries, expected 2")
    for at, axis in enumerate(axes):
        if not -rank <= axis < rank:
            raise ValueError(f"rot90: axes[{at}] is {axis}, out of range for a tensor of rank {rank}")
    first, second = (axis % rank for axis in axes)
    if first == second:
        raise ValueError(f"rot90: axes are both axis {first}: they must be different")
    turns = operator.index(k) % 4
    if turns == 0:
        return (), None
    if turns == 2:
        return (first, second), None
    # To transpose reflects once; a second reflection completes the rotation.
    return (first if turns == 1 else second,), (first, second)


def inverse(axes, swapped):
    """The arguments that undo a call: they compute its gradient."""
    if swapped is None:
        return axes, None
    first, second = swapped
    other = {first: second, second: first}
    return tuple(other.get(axis, axis) for axis in axes), swapped


def shape_of(shape, swapped):
    """The shape of the result."""
    sizes = list(shape)
    if swapped is not None:
        first, second = swapped
        sizes[first], sizes[second] = sizes[second], sizes[first]
    return tuple(sizes)


def _axis(at, value, rank):
    axis = operator.index(value)
    if not -rank <= axis < rank:
        raise AxisError(axis, rank, f"flip: axis[{at}]")
    return axis % rank
