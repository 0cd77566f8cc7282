"""Writes the example models. Needs onnx and openvino (`.venv` has them after scripts/test)."""

from pathlib import Path

import numpy as np
import openvino as ov
from onnx import TensorProto, helper, numpy_helper, save
from openvino.utils.node_factory import NodeFactory

HERE = Path(__file__).parent

# The words of the README, with their lengths inside the model.
lengths = numpy_helper.from_array(np.array([8, 4, 6, 1, 5]), "lengths")
node = helper.make_node(
    "ReverseSequence", ["words", "lengths"], ["reversed"], "turn", time_axis=1, batch_axis=0
)
words = [
    helper.make_tensor_value_info(name, TensorProto.STRING, ["batch", "letters"])
    for name in ("words", "reversed")
]
graph = helper.make_graph([node], "words", words[:1], words[1:], initializer=[lengths])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 28)], ir_version=10)
save(model, HERE / "words.onnx")

# An image turned upside down and mirrored.
image = ov.opset10.parameter([-1, -1, 3], np.uint8, name="image")
axes = ov.op.Constant(np.array([0, 1]))
turned = NodeFactory("opset1").create("Reverse", [image.output(0), axes.output(0)], {"mode": "index"})
model = ov.Model([ov.opset10.result(turned)], [image], "turn")
model.outputs[0].tensor.set_names({"turned"})
ov.serialize(model, str(HERE / "turn.xml"), str(HERE / "turn.bin"))
