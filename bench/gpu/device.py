"""The device: CUDA with its copies and events, or the CPU to test the benchmark."""

import ctypes
import subprocess
from time import perf_counter

import torch

# Cycles for which the device is kept busy while the host prepares a call: launching is not timed.
AHEAD = 4_000_000  # 2 ms: the first call after other work may take the host that long

OTHER = 1 << 28  # more bytes than any cache holds


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
        # Makes the context current, which the copies need. Overwritten before every measurement, so
        # that no part of the tensors is in the cache, even if an earlier call asked to keep it.
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
        """Seconds of device time: the host runs ahead, so that launch overhead is not included."""
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
    """For dry runs: everything except CUDA itself, on the CPU, timed by the wall clock."""

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
