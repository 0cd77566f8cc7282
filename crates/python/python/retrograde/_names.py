"""Functions that flip and turn arrays: their arguments. Those of NumPy are checked by its rules.

Each function takes the rank of the tensor and the arguments of the function of that name. It returns the axes to
reverse and the two axes to swap before that, or None. Axes are not negative. Compilers can trace this code.
"""

import operator

from numpy.exceptions import AxisError

from . import _engine, _torch_private

#: What each orientation does, by its EXIF number and its names.
_ORIENTATIONS = _engine.orientations()
#: Orientations that are so many quarter turns.
_TURNS = (1, 8, 3, 6)


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
    plane = _plane("rot90", rank, axes)
    return _oriented(_TURNS[_integer("rot90: k", k) % 4], *plane)


def orient(rank, orientation, axes=None):
    number, plane = upright(rank, orientation, axes)
    return _oriented(number, *plane)


def upright(rank, orientation, axes=None):
    """The EXIF number of an orientation, and the axes of rows and columns."""
    plane = _plane("orient", rank, (0, 1) if axes is None else axes)
    return _number("orientation", orientation), plane


def orient_into(rank, orientation, axes, in_place):
    """The same for an output that is given, which may be the input."""
    axes, swapped = orient(rank, orientation, axes)
    if in_place and swapped is not None:
        raise ValueError(
            f"orient: orientation is {orientation!r}, which exchanges rows and columns and does not run in place:"
            " pass another out"
        )
    return axes, swapped


def orient_each(shape, orientations, axes, batch_axis):
    """For a batch: the shape of the result, the axis of the images, their EXIF numbers, and the axes to reverse and to
    swap of each.
    """
    if isinstance(orientations, str):
        raise TypeError(f"orient: orientations is {orientations!r}, expected one for each image")
    several = _several("orient: orientations", orientations, "one for each image")
    numbers = [_number(f"orientations[{at}]", one) for at, one in enumerate(several)]
    rank, batch = len(shape), 0 if batch_axis is None else _integer("orient: batch_axis", batch_axis)
    plane = None if axes is None else _plane("orient", rank, axes)
    turned = _oriented_shape(shape, numbers, plane, batch)
    batch %= rank
    rows, columns = plane or [axis for axis in range(3) if axis != batch][:2]
    # Images lack the axis of the batch.
    plane = rows - (rows > batch), columns - (columns > batch)
    return turned, batch, numbers, [_oriented(number, *plane) for number in numbers]


def check_output(x, out, shape, each):
    """Raises an error unless a batch can be oriented into this output."""
    if tuple(out.shape) != shape:
        raise ValueError(f"orient: out has shape {tuple(out.shape)}, expected {shape}")
    if out is x and any(swapped is not None for _, swapped in each):
        raise ValueError("orient: orientations exchange rows and columns, which does not run in place: pass another out")


@_torch_private.constant
def _oriented_shape(*arguments):
    """Compiled programs cannot trace the engine."""
    return tuple(_engine.oriented_shape(*arguments))


def _number(argument, orientation):
    """The EXIF number of an orientation."""
    given = orientation if isinstance(orientation, str) else _integer(f"orient: {argument}", orientation)
    known = _ORIENTATIONS.get(given)
    if known is None:
        names = ", ".join(name for number in range(1, 9) for name in _names_of(number)[:1])
        raise ValueError(f"orient: {argument} is {orientation!r}, expected 1 to 8 or one of {names}")
    return known[0]


def _names_of(number):
    return [name for name, row in _ORIENTATIONS.items() if row[0] == number and isinstance(name, str)]


def _oriented(number, first, second):
    _, swaps, *flips = _ORIENTATIONS[number]
    axes = tuple(axis for axis, flipped in zip((first, second), flips) if flipped)
    return axes, (first, second) if swaps else None


def _plane(name, rank, axes):
    axes = _several(f"{name}: axes", axes, "a pair of integers")
    axes = tuple(_integer(f"{name}: axes[{at}]", axis) for at, axis in enumerate(axes))
    if len(axes) != 2:
        raise ValueError(f"{name}: axes has {len(axes)} entries, expected 2")
    for at, axis in enumerate(axes):
        if not -rank <= axis < rank:
            raise ValueError(f"{name}: axes[{at}] is {axis}, out of range for a tensor of rank {rank}")
    first, second = (axis % rank for axis in axes)
    if first == second:
        raise ValueError(f"{name}: axes are both axis {first}: they must be different")
    return first, second


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
