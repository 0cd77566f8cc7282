"""ONNX Runtime: ReverseSequence; Slice with step -1 for whole axes; GatherElements for lanes.

With outputs bound to the harness's memory, and with outputs that it allocates.
"""

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

from ..contestants import into, making, supported

NAME = "onnxruntime"
OPSET = 17
TYPES = {
    "u8": TensorProto.UINT8,
    "u16": TensorProto.UINT16,
    "f16": TensorProto.FLOAT16,
    "f32": TensorProto.FLOAT,
    "f64": TensorProto.DOUBLE,
}


class Peer:
    name = NAME
    version = ort.__version__
    threads = "any"

    def contestants(self, job, threads):
        case = job.case
        supported(case, TYPES)
        model = model_for(job)
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 4
        # Worker threads that spin while idle would slow down the next contestant.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        session = ort.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])

        bound = session.io_binding()
        feeds = {"x": job.x} | extra(job)
        for name, array in feeds.items():
            bound.bind_input(name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)
        bound.bind_output("y", "cpu", 0, job.out.dtype, job.out.shape, job.out.ctypes.data)
        yield into(NAME, job, lambda: session.run_with_iobinding(bound))

        own = session.io_binding()
        for name, array in feeds.items():
            own.bind_input(name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)

        def call():
            own.bind_output("y", "cpu")
            session.run_with_iobinding(own)
            return own

        def result(binding):
            return binding.copy_outputs_to_cpu()[0]

        yield making(NAME, call, result)


def extra(job):
    if job.case.operator == "sequence":
        return {"lengths": job.lengths}
    if job.case.operator == "subsequences":
        return {"index": job.index()}
    return {}


def model_for(job):
    case = job.case
    kind = TYPES[case.dtype]
    inputs = [helper.make_tensor_value_info("x", kind, case.shape)]
    constants = []
    if case.operator == "reverse":
        axes = np.array(case.axes, np.int64)
        back = np.full_like(axes, -1)
        values = {"starts": back, "ends": np.full_like(axes, np.iinfo(np.int64).min), "axes": axes, "steps": back}
        constants = [numpy_helper.from_array(value, name) for name, value in values.items()]
        node = helper.make_node("Slice", ["x", *values], ["y"])
    elif case.operator == "sequence":
        time, batch = case.axes
        inputs.append(helper.make_tensor_value_info("lengths", TensorProto.INT64, job.lengths.shape))
        node = helper.make_node("ReverseSequence", ["x", "lengths"], ["y"], time_axis=time, batch_axis=batch)
    else:
        inputs.append(helper.make_tensor_value_info("index", TensorProto.INT64, case.shape))
        node = helper.make_node("GatherElements", ["x", "index"], ["y"], axis=case.reversed_axis)
    output = helper.make_tensor_value_info("y", kind, case.shape)
    graph = helper.make_graph([node], "g", inputs, [output], constants)
    opset = [helper.make_opsetid("", OPSET)]
    return helper.make_model(graph, opset_imports=opset, ir_version=8)
