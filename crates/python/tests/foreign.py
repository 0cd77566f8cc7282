"""Arrays of a class derived from NumPy's, and of other libraries."""

import numpy as np


class Tagged(np.ndarray):
    """A subclass with an additional attribute."""

    def __array_finalize__(self, other):
        self.tag = getattr(other, "tag", None)


class OnlyDlpack:
    """A tensor of another library, which can be read but not created."""

    def __init__(self, array):
        self.array, self.shape = array, array.shape

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Foreign(OnlyDlpack):
    """The same, of a library that has an array namespace too."""

    def __array_namespace__(self):
        return np
