"""OpenVINO: Reverse-1 and ReverseSequence, on the harness's memory."""

import numpy as np
import openvino as ov
from openvino import opset13
from openvino.utils.node_factory import NodeFactory

from ..contestants import into, supported

NAME = "openvino"
TYPES = {"u8": ov.Type.u8, "u16": ov.Type.u16, "f16": ov.Type.f16, "f32": ov.Type.f32, "f64": ov.Type.f64}


class Peer:
    name = NAME
    version = ov.__version__
    threads = "any"

    def __init__(self):
        self.core = ov.Core()

    def contestants(self, job, threads):
        case = job.case
        supported(case, TYPES, lanes=False)
        settings = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1}
        request = self.core.compile_model(model_for(case), "CPU", settings).create_infer_request()
        request.set_input_tensor(0, ov.Tensor(job.x, shared_memory=True))
        if case.operator == "sequence":
            request.set_input_tensor(1, ov.Tensor(job.lengths, shared_memory=True))
        request.set_output_tensor(0, ov.Tensor(job.out, shared_memory=True))
        yield into(NAME, job, request.infer)


def model_for(case):
    x = opset13.parameter(list(case.shape), TYPES[case.dtype])
    if case.operator == "reverse":
        axes = opset13.constant(np.array(case.axes, np.int64))
        node = NodeFactory("opset1").create("Reverse", [x, axes], {"mode": "index"})
        return ov.Model([node], [x], "reverse")
    time, batch = case.axes
    lengths = opset13.parameter([case.shape[batch]], ov.Type.i64)
    node = opset13.reverse_sequence(x, lengths, batch, time)
    return ov.Model([node], [x, lengths], "reverse_sequence")
