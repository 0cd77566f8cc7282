"""Adapter for NumPy: `np.flip`."""

from protocol import from_numpy, serve


def start():
    import numpy as np

    def run(call):
        axes = call.argument.numpy()
        flipped = np.flip(call.input.numpy(), tuple(axes.tolist()))
        return from_numpy(flipped, call.input.dtype)

    return np.__version__, run


if __name__ == "__main__":
    serve("numpy", ["Flip"], start, "pip install numpy ml_dtypes")
