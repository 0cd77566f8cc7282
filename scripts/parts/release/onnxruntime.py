"""The execution provider for ONNX Runtime: one library without dependencies, for each target."""

import shutil
import sys

from . import targets
from .running import Runner
from .shell import BIN, ROOT, bare, files_of, need, pack, run, unpack

PACKAGE = ["retrograde-onnxruntime"]
NAME = "retrograde_onnxruntime"
# The versions with which scripts/test onnxruntime runs.
PEERS = ["onnxruntime==1.31.1", "onnx==1.23.2"]
TEST = """\
import ctypes, sys
import numpy as np, onnx, onnxruntime as ort
from onnx import TensorProto, helper
value = helper.make_tensor_value_info
x, y = (value(name, TensorProto.FLOAT, [4, 6]) for name in "xy")
node = helper.make_node("ReverseSequence", ["x", "n"], ["y"], time_axis=1, batch_axis=0)
graph = helper.make_graph([node], "g", [x, value("n", TensorProto.INT64, [4])], [y])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
ort.register_execution_provider_library("retrograde", sys.argv[1])
options = ort.SessionOptions()
devices = [device for device in ort.get_ep_devices() if device.ep_name == "RetrogradeExecutionProvider"]
options.add_provider_for_devices(devices, {"min_bytes": "0"})
session = ort.InferenceSession(model, options)
assert ctypes.CDLL(sys.argv[1]).RetrogradeLiveSessions() == 1
got = session.run(None, {"x": np.arange(24, dtype=np.float32).reshape(4, 6), "n": np.array([6, 3, 0, 1])})[0]
assert got.tolist() == [[5, 4, 3, 2, 1, 0], [8, 7, 6, 9, 10, 11], [12, 13, 14, 15, 16, 17], [18, 19, 20, 21, 22, 23]], got
print("right")
"""


def name(release, target):
    return f"retrograde-onnxruntime-{release.version}-{target.triple}"


def path(release, target):
    return release.out / f"{name(release, target)}{'.zip' if target.system == 'windows' else '.tar.gz'}"


def build(release, target):
    folder = targets.build(target)
    with release.temporary() as top:
        release.documents(top, target, PACKAGE, "docs/onnxruntime.md")
        shutil.copy(folder / target.library(NAME), top)
        shutil.copy(ROOT / "crates/onnxruntime/examples/session.cpp", top)
        entries = {f"{name(release, target)}/{file}": entry for file, entry in files_of(top, [target.library(NAME)]).items()}
        pack(path(release, target), entries)
    release.bill(path(release, target).name, PACKAGE, target)


def test(release, target, place):
    library = unpack(path(release, target), place) / target.library(NAME)
    runner = Runner(target)
    if runner.native:
        run(sys.executable, "-m", "venv", place / "venv")
        python = place / "venv" / BIN / "python"
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PEERS, cwd=place, env=bare())
        need(run(python, "-c", TEST, library, cwd=place, env=bare()) == "right\n", "the provider did not run the node")
        said = f"ran a node of a model in {PEERS[0]}"
    else:
        said = f"NOT RUN: no {PEERS[0].split('=')[0]} for {target.triple} here; it exports CreateEpFactories"
    return f"{release.sized(path(release, target))}: {said}"
