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
            axis = _several("flip: axis", axis, "an integer, several of them, or None for all axes")
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
    axes = _several("rot90: axes", axes, "a pair of integers")
    axes = tuple(_integer(f"rot90: axes[{at}]", axis) for at, axis in enumerate(axes))
    if len(axes) != 2:
        raise ValueError(f"rot90: axes has {len(axes)} entries, expected 2")
    for at, axis in enumerate(axes):
        if not -rank <= axis < rank:
            raise ValueError(f"rot90: axes[{at}] is {axis}, out of range for a tensor of rank {rank}")
    first, second = (axis % rank for axis in axes)
    if first == second:
        raise ValueError(f"rot90: axes are both axis {first}: they must be different")
    turns = _integer("rot90: k", k) % 4
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
    # The name is made only if it is needed: it takes as long as the rest.
    axis = value if type(value) is int else _integer(f"flip: axis[{at}]", value)
    if not -rank <= axis < rank:
        raise AxisError(axis, rank, f"flip: axis[{at}]")
    return axis % rank


def _integer(argument, value):
    try:
        return operator.index(value)
    except TypeError as error:
        raise TypeError(f"{argument} is {_shown(value)}, expected an integer") from error


def _several(argument, values, expected):
    if type(values) in (tuple, list):
        return values
    try:
        return tuple(values)
    except TypeError as error:
        raise TypeError(f"{argument} is {_shown(values)}, expected {expected}") from error


def _shown(value):
    """A value as an error shows it: abbreviated, with its type."""
    text = repr(value)
    return f"{text if len(text) <= 60 else text[:60] + '...'} ({type(value).__name__})"
