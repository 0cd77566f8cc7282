"""The functions of the package, but with results that are always row-major: for chunks, and for xarray."""

import numpy as np

import retrograde


def contiguous(x):
    return x if x.flags.c_contiguous else x.copy(order="C")


def flip(x, axes):
    return retrograde.flip(x, axes)


def reverse(x, axes):
    return _called(retrograde.reverse, x, axes)


def reverse_sequence(x, lengths, **arguments):
    return _called(retrograde.reverse_sequence, x, lengths, **arguments)


def reverse_subsequences(x, lengths, **arguments):
    return _called(retrograde.reverse_subsequences, x, lengths, **arguments)


def reverse_segments(x, offsets, **arguments):
    return _called(retrograde.reverse_segments, x, offsets, **arguments)


def _called(function, x, *arguments, **named):
    if type(x) is np.ndarray and not x.flags.c_contiguous:
        # A new output would have the memory order of the input.
        return function(x, *arguments, out=np.empty(x.shape, x.dtype), **named)
    result = function(x, *arguments, **named)
    return contiguous(result) if hasattr(result, "flags") else result
