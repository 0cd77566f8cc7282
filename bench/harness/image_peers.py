"""Libraries that turn and mirror images, and plain copies: the contestants of `bench/images.py`.

A peer makes calls without arguments for one image: `fresh` returns one that makes a new image, `reused` one that
writes to a given array, or None. Outputs are dense. Where a library takes single images, a batch is a loop."""

from functools import partial
from types import SimpleNamespace

import numpy as np

from .contestants import Unsupported, into, making
from .image_job import seen
from .sizes import copies


def copied(job):
    """Plain copies of as many bytes, by NumPy and on several threads."""
    yield from copies(SimpleNamespace(x=job.x, out=job.out.reshape(job.x.shape)), [])


def own(job, threads):
    """Retrograde: `flip`, `rot90` and `orient`, and `reverse` and `orient` into a given array."""
    import retrograde

    retrograde.set_num_threads(threads)
    case, x, out = job.case, job.x, job.out
    axes = case.axes if len(case.axes) != 1 else case.axes[0]
    if case.movement.startswith("rot"):
        yield making("retrograde", partial(retrograde.rot90, x, case.quarters, case.plane))
    elif case.turned:
        yield making("retrograde", partial(retrograde.orient, x, case.movement, axes=case.plane))
    else:
        yield making("retrograde", partial(retrograde.flip, x, axes))
    if case.turned:
        yield into("retrograde", job, partial(retrograde.orient, x, case.movement, axes=case.plane, out=out))
    else:
        yield into("retrograde", job, partial(retrograde.reverse, x, axes, out=out))


class Peer:
    threads = "one"
    #: Whether it takes a batch as one array.
    whole = False

    def use(self, threads):
        """Sets the number of threads."""

    def held(self, x):
        """An array as the library holds it."""
        return x

    def array(self, result):
        """A result as an array or tensor."""
        return result

    def reused(self, case, x, out):
        """A call that writes to `out`, if it has one."""

    def contestants(self, job, threads):
        case = job.case
        self.use(threads)
        if self.whole or not case.batch:
            yield making(self.name, self.fresh(case, self.held(job.x)), self.array)
            call = self.reused(case, self.held(job.x), job.out)
        else:
            one = [self.fresh(case, self.held(x)) for x in images(job.x)]
            yield making(
                self.name,
                lambda: [call() for call in one],
                lambda results: np.stack([self.array(result) for result in results]).reshape(job.out.shape),
            )
            given = [
                self.reused(case, self.held(x), out) for x, out in zip(images(job.x), images(job.out), strict=True)
            ]
            call = None if None in given else lambda: [call() for call in given]
        if call:
            yield into(self.name, job, call)


def images(batch):
    """The images of a batch; if channels come first, the planes."""
    return batch if batch.shape[-1] <= 4 else batch.reshape(-1, *batch.shape[-2:])


class Numpy(Peer):
    """A copy of the turned view."""

    name, whole = "numpy", True

    def __init__(self):
        self.version = np.__version__

    def fresh(self, case, x):
        if case.movement.startswith("rot"):
            return lambda: np.rot90(x, case.quarters, case.plane).copy()
        return lambda: seen(case, x).copy()

    def reused(self, case, x, out):
        return lambda: np.copyto(out, seen(case, x))


class Opencv(Peer):
    name, threads = "opencv", "any"

    def __init__(self):
        import cv2

        self.cv2, self.version = cv2, cv2.__version__

    def use(self, threads):
        self.cv2.setNumThreads(threads)

    def fresh(self, case, x, *out):
        cv2 = self.cv2
        flips = {"mirror": 1, "upside down": 0, "both": -1}
        turns = {
            "rot90": cv2.ROTATE_90_COUNTERCLOCKWISE,
            "rot180": cv2.ROTATE_180,
            "rot270": cv2.ROTATE_90_CLOCKWISE,
        }
        if case.movement in flips:
            return partial(cv2.flip, x, flips[case.movement], *out)
        if case.movement in turns:
            return partial(cv2.rotate, x, turns[case.movement], *out)
        if case.movement == "transpose":
            return partial(cv2.transpose, x, *out)
        return lambda: cv2.flip(cv2.transpose(x), -1, *out)

    reused = fresh


class Pillow(Peer):
    name = "pillow"
    KINDS = ("u8", "RGB u8", "RGBA u8", "u16", "f32")

    def __init__(self):
        import PIL.Image

        self.image, self.version = PIL.Image, PIL.__version__

    def held(self, x):
        if x.dtype.itemsize > 1 and (x.ndim > 2 or x.dtype == np.float16):
            raise Unsupported("no mode for it")
        return self.image.fromarray(x)

    def fresh(self, case, x):
        method = self.image.Transpose
        methods = {
            "mirror": method.FLIP_LEFT_RIGHT,
            "upside down": method.FLIP_TOP_BOTTOM,
            "both": method.ROTATE_180,
            "rot90": method.ROTATE_90,
            "rot180": method.ROTATE_180,
            "rot270": method.ROTATE_270,
            "transpose": method.TRANSPOSE,
            "transverse": method.TRANSVERSE,
        }
        return partial(x.transpose, methods[case.movement])


class Torch(Peer):
    """On the CPU or a CUDA device."""

    name, threads, whole = "torch", "any", True

    def __init__(self):
        import torch

        self.torch, self.version = torch, torch.__version__

    def use(self, threads):
        self.torch.set_num_threads(threads)

    def held(self, x):
        if not isinstance(x, np.ndarray):
            return x
        # PyTorch has few operators for u16.
        return self.torch.from_numpy(x.view(np.int16) if x.dtype == np.uint16 else x)

    def fresh(self, case, x):
        torch = self.torch
        if case.movement.startswith("rot"):
            return lambda: torch.rot90(x, case.quarters, case.plane).contiguous()
        if not case.turned:
            return lambda: torch.flip(x, case.axes)
        if not case.axes:
            return lambda: x.transpose(*case.plane).contiguous()
        return lambda: torch.flip(x, case.axes).transpose(*case.plane).contiguous()


class Torchvision(Torch):
    """Version 2 of its transforms. A rotation by a right angle is a view of a flip, which is copied."""

    name = "torchvision"

    def __init__(self):
        super().__init__()
        import torchvision
        from torchvision.transforms.v2 import functional

        self.functional, self.version = functional, torchvision.__version__

    def fresh(self, case, x):
        rows = case.plane[0]
        last = x.ndim == rows + 3  # channels, which it wants before the rows
        forth = [*range(rows), rows + 2, rows, rows + 1] if last else range(x.ndim)
        back = [*range(rows), rows + 1, rows + 2, rows] if last else range(x.ndim)
        image = x.permute(*forth)
        call = self.flips().get(case.movement) or self.turn(case)
        if x.ndim == 2:  # it wants an axis of channels
            return lambda: call(image[None])[0].contiguous()
        return lambda: call(image).permute(*back).contiguous()

    def flips(self):
        return {"mirror": self.functional.horizontal_flip, "upside down": self.functional.vertical_flip}

    def turn(self, case):
        if case.quarters is None:
            raise Unsupported("no transposes")
        return partial(self.functional.rotate, angle=90 * case.quarters, expand=True)


class Kornia(Peer):
    """Its threads are all processors' from the first call on."""

    name, threads = "kornia-rs", "all"

    def __init__(self):
        import kornia_rs

        self.imgproc, self.version = kornia_rs.imgproc, kornia_rs.__version__

    def fresh(self, case, x):
        functions = {"mirror": self.imgproc.horizontal_flip, "upside down": self.imgproc.vertical_flip}
        if case.movement not in functions or x.dtype != np.uint8 or x.shape[2:] != (3,):
            raise Unsupported("only flips of RGB u8")
        return partial(functions[case.movement], x)


class Albumentations(Peer):
    """The functions below its transforms, which mirror by OpenCV, and whose other results are views, copied here."""

    name, threads = "albumentations", "any"

    def __init__(self):
        import albumentations
        import albumentations.augmentations.geometric.functional as functional

        self.functional, self.version = functional, albumentations.__version__

    def fresh(self, case, x):
        members = {
            "mirror": "h",
            "upside down": "v",
            "both": "r180",
            "rot90": "r90",
            "rot180": "r180",
            "rot270": "r270",
        }
        member = (members | {"transpose": "t", "transverse": "hvt"})[case.movement]
        return lambda: np.ascontiguousarray(self.functional.d4(x, member))


class Skimage(Peer):
    """Rotations without interpolation. It mirrors by NumPy's views."""

    name = "scikit-image"
    MOST = 1 << 20  # an image of 1080p takes seconds

    def __init__(self):
        import skimage
        import skimage.transform

        self.rotate, self.version = skimage.transform.rotate, skimage.__version__

    def fresh(self, case, x):
        if not case.movement.startswith("rot") or case.bytes > self.MOST:
            raise Unsupported("only rotations, of up to 1 MiB")
        angle = 90 * case.quarters
        return lambda: self.rotate(x, angle, resize=True, order=0, preserve_range=True).astype(x.dtype)


PEERS = [Numpy, Opencv, Pillow, Torch, Torchvision, Kornia, Albumentations, Skimage]
