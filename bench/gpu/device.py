"""Where it runs: a CUDA device with its copies and its clock, or the CPU to try the benchmark out."""

import ctypes
import subprocess
from time import perf_counter

import torch

# So long the device has something else to do while the host prepares a call: launching is not timed.
AHEAD = 4_000_000  # cycles, 2 ms: a first call after others may take the host that long

OTHER = 1 << 28  # more bytes than any cache has


class Cuda:
    kind = "cuda"

    def __init__(self):
        torch.cuda.init()
        self.stream = torch.cuda.current_stream().cuda_stream
        self.driver = ctypes.CDLL("libcuda.so.1")
        handle = ctypes.c_void_p
        self._copy = self.driver.cuMemcpyDtoDAsync_v2
        self._copy.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_size_t, handle]
        self.start, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        # Makes the context current, which the copies need. Written before everything that is timed, so that nothing of
        # the tensors is in the cache, whatever who came before asked it to keep.
        self.other = torch.ones(OTHER, dtype=torch.uint8, device="cuda")

    def copier(self, to, of):
        """A call that copies the bytes of one tensor to another: `cuMemcpyDtoDAsync`."""
        arguments = to.data_ptr(), of.data_ptr(), of.nbytes, self.stream
        copy = self._copy

        def call():
            status = copy(*arguments)
            if status:
                raise RuntimeError(f"cuMemcpyDtoDAsync: error {status}")

        return call

    def time(self, call):
        """Seconds of device time: the host is ahead, so that they are the device's alone."""
        self.driver.cuCtxResetPersistingL2Cache()
        self.other.zero_()
        torch.cuda._sleep(AHEAD)
        self.start.record()
        call()
        self.end.record()
        self.end.synchronize()
        return self.start.elapsed_time(self.end) / 1000

    def wait(self):
        torch.cuda.synchronize()

    def tidy(self):
        torch.cuda.empty_cache()

    def facts(self):
        properties = torch.cuda.get_device_properties(0)
        return {
            "gpu": properties.name,
            "multiprocessors": properties.multi_processor_count,
            "memory": f"{properties.total_memory / 1e9:.0f} GB",
            "driver": self._driver_version(),
            "CUDA of the driver": self._cuda_version(),
        }

    def _driver_version(self):
        try:
            asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "--id=0"]
            return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            return "unknown (no nvidia-smi)"

    def _cuda_version(self):
        number = ctypes.c_int()
        self.driver.cuDriverGetVersion(ctypes.byref(number))
        return f"{number.value // 1000}.{number.value % 1000 // 10}"


class Host:
    """Not for figures: everything but CUDA itself, on the CPU and by the clock."""

    kind = "cpu"

    def copier(self, to, of):
        return lambda: to.copy_(of)

    def time(self, call):
        start = perf_counter()
        call()
        return perf_counter() - start

    def wait(self):
        pass

    def tidy(self):
        pass

    def facts(self):
        return {"gpu": "none: a dry run on the CPU"}
