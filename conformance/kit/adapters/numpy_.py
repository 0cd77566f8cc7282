"""Adapter for NumPy: `np.flip`, also with `np.where`; orientations by `np.rot90` and views."""

from protocol import from_numpy, serve


def start():
    import numpy as np

    def flip(x, axes, mask):
        flipped = np.flip(x, axes)
        if mask is None:
            return flipped
        return np.where(mask.numpy().reshape(-1, *[1] * (x.ndim - 1)), flipped, x)

    def orient(x, plane, orientation):
        rows, columns = plane
        return {
            1: lambda: x,
            2: lambda: np.flip(x, columns),
            3: lambda: np.rot90(x, 2, plane),
            4: lambda: np.flip(x, rows),
            5: lambda: np.swapaxes(x, rows, columns),
            6: lambda: np.rot90(x, -1, plane),
            7: lambda: np.swapaxes(np.rot90(x, 2, plane), rows, columns),
            8: lambda: np.rot90(x, 1, plane),
        }[orientation]()

    def run(call):
        x, axes = call.input.numpy(), tuple(call.argument.numpy().tolist())
        if call.operator == "Orient":
            moved = orient(x, axes, call.attributes["orientation"])
        else:
            moved = flip(x, axes, call.mask)
        return from_numpy(moved, call.input.dtype)

    return np.__version__, run


if __name__ == "__main__":
    serve("numpy", ["Flip", "Orient"], start, "pip install numpy ml_dtypes", ["where"])
