"""Images on a CUDA device: the same cases and calls as `bench/images.py`, and the libraries that only GPUs have."""

import ctypes
import os
import sys
from functools import partial

import numpy as np
import torch
from harness import image_peers
from harness.compare import checked
from harness.contestants import into
from harness.image_job import Job as HostJob
from harness.peers import first_line

from . import contestants, measure

#: Below this, calls are timed by the wall clock, launches included.
SMALL = 1 << 20


class Job(HostJob):
    """A case on the device. `u16` is `int16`, which PyTorch supports fully."""

    def __init__(self, case, kind):
        super().__init__(case)
        for name in ("x", "out", "expected"):
            array = getattr(self, name)
            array = array.view(np.int16) if array.dtype == np.uint16 else array
            setattr(self, name, torch.from_numpy(array).to(kind))
        self.dst = self  # what is filled before a result is checked

    def fill(self, byte):
        self.out.view(torch.uint8).fill_(byte)

    def is_right(self, result):
        return result.shape == self.out.shape and result.is_contiguous() and torch.equal(result, self.expected)


class Kornia(image_peers.Torchvision):
    name = "kornia"

    def __init__(self):
        super().__init__()
        import kornia

        self.transform, self.version = kornia.geometry.transform, kornia.__version__

    def flips(self):
        return {"mirror": self.transform.hflip, "upside down": self.transform.vflip, "both": self.transform.rot180}

    def turn(self, case):
        raise image_peers.Unsupported("no rotations without interpolation")


class Context(ctypes.Structure):
    """`NppStreamContext`."""

    _fields_ = [("stream", ctypes.c_void_p)]
    _fields_ += [(name, ctypes.c_int) for name in ("device", "processors", "threads_each", "threads_block")]
    _fields_ += [("shared", ctypes.c_size_t)]
    _fields_ += [(name, ctypes.c_int) for name in ("major", "minor", "flags", "workspace")]


class Size(ctypes.Structure):
    _fields_ = [("width", ctypes.c_int), ("height", ctypes.c_int)]


class Npp(image_peers.Peer):
    """NPP 13 (the package `nvidia-npp`, or its libraries in the folder NPP): mirrors and transposes."""

    name = "npp"
    TYPES = {torch.uint8: "8u", torch.int16: "16u", torch.float32: "32f"}
    AXES = {"upside down": 0, "mirror": 1, "both": 2, "rot180": 2}

    def __init__(self):
        folders = [os.environ.get("NPP", ""), *(f"{path}/nvidia/cu13/lib" for path in sys.path)]
        folder = next((path for path in folders if os.path.exists(f"{path}/libnppc.so.13")), "")
        _, self.mirrors, self.transposes = (
            ctypes.CDLL(os.path.join(folder, f"libnpp{part}.so.13"), ctypes.RTLD_GLOBAL) for part in ("c", "ig", "idei")
        )
        self.version = "13"
        device = torch.cuda.get_device_properties(0)
        stream, major, minor = torch.cuda.current_stream().cuda_stream, device.major, device.minor
        self.context = Context(stream, 0, device.multi_processor_count, 2048, 1024, 48 << 10, major, minor, 0, 0)

    def reused(self, case, x, out):
        channels = x.shape[2] if x.dim() > 2 else 1
        kind = f"{self.TYPES.get(x.dtype)}_C{channels}R_Ctx"
        size, steps = Size(x.shape[1], x.shape[0]), [t.stride(0) * t.element_size() for t in (x, out)]
        arguments = [ctypes.c_void_p(x.data_ptr()), steps[0], ctypes.c_void_p(out.data_ptr()), steps[1], size]
        if case.movement in self.AXES:
            function = getattr(self.mirrors, f"nppiMirror_{kind}", None)
            arguments.append(self.AXES[case.movement])
        else:
            function = getattr(self.transposes, f"nppiTranspose_{kind}", None)
        if function is None or (case.turned and case.movement != "transpose"):
            raise image_peers.Unsupported("only mirrors and transposes of some types")
        return partial(function, *arguments, self.context)

    def contestants(self, job, threads):
        images = image_peers.images if job.case.batch else lambda one: [one]
        pairs = zip(images(job.x), images(job.out), strict=True)
        calls = [self.reused(job.case, x, out) for x, out in pairs]

        def call():
            for one in calls:
                status = one()
                if status:
                    raise RuntimeError(f"NPP: status {status}")

        yield into(self.name, job, call)


class CvCuda(image_peers.Peer):
    """CV-CUDA on PyTorch's stream: flips of images and of batches whose channels come last."""

    name, whole = "cv-cuda", True
    CODES = {"upside down": 0, "mirror": 1, "both": -1}

    def __init__(self):
        import cvcuda

        self.cvcuda, self.version = cvcuda, cvcuda.__version__
        self.stream = cvcuda.as_stream(torch.cuda.current_stream())

    def held(self, x):
        if x.dim() == 4 and x.shape[-1] > 4:
            raise image_peers.Unsupported("channels last only")
        return self.cvcuda.as_tensor(x if x.dim() > 2 else x[..., None], "NHWC" if x.dim() == 4 else "HWC")

    def array(self, result):
        return torch.as_tensor(result.cuda(), device="cuda").squeeze(-1)

    def fresh(self, case, x):
        if case.movement not in self.CODES:
            raise image_peers.Unsupported("no rotations without interpolation")
        return partial(self.cvcuda.flip, x, self.CODES[case.movement], stream=self.stream)

    def reused(self, case, x, out):
        return partial(self.cvcuda.flip_into, self.held(out), x, self.CODES[case.movement], stream=self.stream)


PEERS = [image_peers.Torch, image_peers.Torchvision, Kornia, Npp, CvCuda]


def compared(case, others, device, asked, skipped):
    """One case: every result is checked, then all contestants alternate."""
    job = Job(case, device.kind)
    own = list(image_peers.own(job, None))
    found, wrong = checked(job, 1, own, others, skipped)
    turns = [contestants.copying(SameBytes(job), device)]
    for one in found:
        call, bad = partial(one.work, 1), one.label in wrong
        turns.append(contestants.Contestant(one.name, one.style, call, lambda _: device.wait(), wrong=bad))
    seconds, errors = measure.alternate(device, turns, asked.rounds, case.bytes < SMALL)
    for one, error in errors.items():
        skipped.append({"peer": one.name, "case": case.name, "reason": f"failed on {case.name}: {first_line(error)}"})
    return {"group": case.group, "name": case.name, "bytes": case.bytes, "contestants": measure.summary(seconds)}


class SameBytes:
    """Input and output as bytes, for the copy."""

    def __init__(self, job):
        self.src, self.dst = job.x, job.out

    def bytes(self, tensor):
        return tensor.view(-1)
