"""PyTorch: `flip`, which always allocates; `gather` and indexing with a precomputed index."""

import torch

from ..contestants import into, making, supported

NAME = "torch"


class Peer:
    name = NAME
    version = torch.__version__
    threads = "any"

    def contestants(self, job, threads):
        case = job.case
        supported(case, strided=True)
        torch.set_grad_enabled(False)
        torch.set_num_threads(threads)
        x, out = torch.from_numpy(job.x), torch.from_numpy(job.out)
        if case.operator == "reverse":
            yield making(NAME, lambda: torch.flip(x, case.axes).contiguous(), torch.Tensor.numpy)
            return
        if case.operator == "sequence" and len(case.shape) > 2:
            first, second = map(torch.from_numpy, job.picks())
            yield making(NAME, lambda: x[first, second], torch.Tensor.numpy)
            return
        index, axis = torch.from_numpy(job.index()), case.reversed_axis
        yield into(NAME, job, lambda: torch.gather(x, axis, index, out=out))
        yield making(NAME, lambda: torch.gather(x, axis, index), torch.Tensor.numpy)
