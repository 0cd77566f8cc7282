"""Random flips of a batch of images, into a buffer that is used again and again.

A batch of bytes in NHWC order is flipped as a whole, or every image by its own toss of a coin: a
mirrored image is a sequence of W columns reversed by its whole length, one that is left alone has
length 0. So `reverse_sequence` with lengths of 0 and W flips some and copies the others in one go.
"""

import time

import numpy as np
import retrograde

N, H, W, C = 32, 224, 224, 3


def flip_some(images, flipped, axis, out):
    """Flips the images that `flipped` marks along an axis (1: upside down, 2: mirrored)."""
    lengths = np.where(flipped, images.shape[axis], 0)
    return retrograde.reverse_sequence(images, lengths, time_axis=axis, batch_axis=0, out=out)


def flip_some_with_numpy(images, flipped, axis, out):
    for source, target, is_flipped in zip(images, out, flipped, strict=True):
        target[...] = np.flip(source, axis - 1) if is_flipped else source
    return out


def seconds(action, rounds=25):
    """The median of a few rounds, after one that warms up."""
    action()
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        action()
        taken.append(time.perf_counter() - start)
    return sorted(taken)[rounds // 2]


def main():
    rng = np.random.default_rng(1)
    images = rng.integers(256, size=(N, H, W, C), dtype=np.uint8)
    out, expected = np.empty_like(images), np.empty_like(images)

    # What a training loop does: a new toss for every batch, the same buffers for all of them.
    step = np.empty_like(images)
    for _ in range(3):
        mirrored, turned = rng.integers(2, size=(2, N)).astype(bool)
        flip_some(images, mirrored, 2, out=step)
        flip_some(step, turned, 1, out=step)
        for image, result, is_mirrored, is_turned in zip(images, step, mirrored, turned, strict=True):
            plain = image[:: -1 if is_turned else 1, :: -1 if is_mirrored else 1]
            assert np.array_equal(result, plain)
    print(f"{N} images of {H} x {W} x {C} bytes, mirrored and turned at random: as slices of NumPy have it")

    rows = [
        (
            "all mirrored",
            lambda: retrograde.reverse(images, 2, out=out),
            lambda: np.copyto(expected, images[:, :, ::-1]),
        ),
        (
            "all upside down",
            lambda: retrograde.reverse(images, 1, out=out),
            lambda: np.copyto(expected, images[:, ::-1]),
        ),
        (
            "half mirrored",
            lambda: flip_some(images, mirrored, 2, out),
            lambda: flip_some_with_numpy(images, mirrored, 2, expected),
        ),
        (
            "half upside down",
            lambda: flip_some(images, turned, 1, out),
            lambda: flip_some_with_numpy(images, turned, 1, expected),
        ),
    ]
    copying = seconds(lambda: np.copyto(expected, images))
    print(f"\n{'on this machine, in ms':24}{'retrograde':>12}{'NumPy':>10}{'times as fast':>16}")
    print(f"{'a copy, to compare':24}{'':12}{1e3 * copying:10.2f}")
    for name, ours, theirs in rows:
        mine, numpys = seconds(ours), seconds(theirs)
        assert np.array_equal(out, expected)
        print(f"{name:24}{1e3 * mine:12.2f}{1e3 * numpys:10.2f}{numpys / mine:16.1f}")
    print("Upside down, whole rows move as they are: there NumPy copies at full speed too.")


if __name__ == "__main__":
    main()
