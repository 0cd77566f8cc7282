"""Writes the example tensors of this folder. Needs NumPy."""

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent


def save(name: str, array: np.ndarray) -> None:
    np.save(FOLDER / name, array)


# Words of one character per step, filled up to eight steps with dots.
words = ["stressed", "live", "drawer", "a", "parts"]
save("words.npy", np.array([list(word.ljust(8, "·")) for word in words], dtype="<U1"))
save("words-lengths.npy", np.array([len(word) for word in words], dtype="<i8"))

# The first example of ONNX ReverseSequence: time runs down, one sequence per column.
save("onnx.npy", np.arange(16, dtype="<f4").reshape(4, 4).T.copy())

# For ReverseSubsequences along axis 3: three lanes of four elements.
save("grid.npy", np.arange(1, 13, dtype="<f4").reshape(1, 1, 3, 4))

# An image of six rows and eight columns: red grows downwards, green to the right.
rows, columns = np.mgrid[0:6, 0:8]
save("image.npy", np.stack([rows * 40, columns * 30, 0 * rows + 128], axis=-1).astype("|u1"))
