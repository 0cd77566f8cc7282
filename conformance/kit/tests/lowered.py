"""Lowers models and runs the results in the runtimes that the languages belong to, bit for bit.

    python lowered.py RETROGRADE [EVERY]

Cases of OpenVINO's operators are exported as IR and lowered to every language; the ONNX model that
comes out is lowered again, so that every pair is covered. ONNX models are checked by the onnx package
and run by ONNX Runtime, IRs by OpenVINO, StableHLO by XLA (jaxlib), DirectML's descriptors by the few
lines below. With EVERY, only every such case is taken. A runtime that is not installed is skipped.
"""

import itertools
import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts/parts"))

import deadline  # noqa: E402

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
EXTENSIONS = {"onnx": "onnx", "openvino": "xml", "stablehlo": "mlir", "directml": "json"}


def runners():
    """A function for each language whose runtime is installed."""
    found = {"directml": directml}
    try:
        import onnx
        import onnxruntime as ort

        def run(path, feeds):
            onnx.checker.check_model(str(path), full_check=True)
            session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
            return session.run(None, {one.name: feeds[one.name] for one in session.get_inputs()})[0]

        found["onnx"] = run
    except ImportError as error:
        print(f"onnx: SKIPPED, {error}")
    try:
        import openvino as ov

        core = ov.Core()

        def run_ir(path, feeds):
            model = core.compile_model(core.read_model(str(path)), "CPU")
            results = model({name: feeds[name] for one in model.inputs for name in one.names if name in feeds})
            return results[model.outputs[0]]

        found["openvino"] = run_ir
    except ImportError as error:
        print(f"openvino: SKIPPED, {error}")
    try:
        found["stablehlo"] = xla()
    except ImportError as error:
        print(f"stablehlo: SKIPPED, {error}")
    return found


def xla():
    """Parses text with MLIR, compiles it with XLA, and runs it on the CPU."""
    import jax
    import jax.extend.backend
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jaxlib.mlir import ir

    client = jax.extend.backend.get_backend("cpu")
    device = client.local_devices()[0]

    def run(path, feeds):
        text = path.read_text()
        with mlir.make_ir_context():
            assert ir.Module.parse(text).operation.verify()
        names = [json.loads(line.split(": ", 1)[1]) for line in text.splitlines() if line.startswith("// %arg")]
        devices = xla_client.DeviceList((device,))
        program = client.compile_and_load(text.encode(), devices, xla_client.CompileOptions())
        with jax.enable_x64(True):
            arguments = [jax.device_put(feeds[name], device) for name in names]
        (result,) = program.execute_sharded(arguments).disassemble_into_single_device_arrays()
        return np.asarray(result[0])

    return run


def directml(path, feeds):
    """ReverseSubsequences of each descriptor, lane by lane."""
    value = None
    for operator in json.loads(path.read_text())["Operators"]:
        if value is None:
            value = feeds[operator["InputTensor"]["Value"]].copy()
        described, axis = operator["SequenceLengthsTensor"], operator["Axis"]
        data = described["Data"] if "Data" in described else feeds[described["Value"]].reshape(-1)
        result = value.copy()
        for lane in itertools.product(*map(range, described["Sizes"])):
            length = int(data[sum(at * stride for at, stride in zip(lane, described["Strides"]))])
            index = tuple(slice(None) if at == axis else place for at, place in enumerate(lane))
            length = min(length, value.shape[axis])
            result[index][:length] = value[index][:length][::-1]
        value = result
    return value


def lower(program, model, language, output):
    """Whether it was lowered, or the reason why not."""
    words = [program, "-q", "lower", str(model), "--to", language, "-o", str(output), "--trust-lengths"]
    done = deadline.run(words)
    assert done.returncode in (0, 1), done.stderr
    return None if done.returncode == 0 else done.stderr.strip()


def same(one, other):
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def main():
    program, every = Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    runs, counts, refused, faults = runners(), Counter(), Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        export = [program, "-q", "conformance", "export", folder / "cases", "--format", "openvino"]
        deadline.run(export, check=True)
        cases = json.loads((folder / "cases/manifest.json").read_text())["cases"]
        # Bits that a runtime loses are the business of its report.
        plain = lambda case: "refused" not in case["expected"] and case["rule"].split(".")[0] not in ("bits", "packed")
        for case in [case for case in cases if plain(case)][::every]:
            place = folder / "cases" / case["id"]
            files = {name: place / f"{name}.npy" for name in ("input_0", "input_1", "output_0")}
            if not files["input_0"].exists():
                continue
            x, expected = np.load(files["input_0"]), np.load(files["output_0"])
            if x.dtype.kind == "V" or case["input"]["shape"] != list(x.shape):
                continue
            feeds = {"x": x}
            if files["input_1"].exists():
                feeds["lengths"] = np.load(files["input_1"])
            models = [("openvino", place / "model.xml")]
            for source, model in models:
                for language, extension in EXTENSIONS.items():
                    output = folder / f"{source}-{language}.{extension}"
                    reason = lower(program, model, language, output)
                    if reason:
                        refused[f"{source} -> {language}: {reason.split(': ', 3)[-1]}"] += 1
                        continue
                    if source == "openvino" and language == "onnx":
                        models.append(("onnx", output))
                    if language not in runs:
                        continue
                    try:
                        got = runs[language](output, feeds)
                        right = same(np.asarray(got), expected)
                    except Exception as error:
                        got, right = " ".join(str(error).split())[:150], False
                    if not right and language == "openvino" and fails(runs["openvino"], place, feeds, expected):
                        counts["the original fails in OpenVINO too"] += 1
                        continue
                    counts[f"{source} -> {language}"] += right
                    if not right:
                        faults.append(f"{case['id']}: {source} -> {language}: {got}")
    for what, count in sorted(counts.items()):
        print(f"{what}: {count}")
    for reason, count in refused.most_common():
        print(f"refused: {count} x {reason}")
    for fault in faults[:20]:
        print(f"WRONG {fault}")
    assert not faults, f"{len(faults)} wrong results"
    assert all(counts[f"{a} -> {b}"] for a in ("onnx", "openvino") for b in runs), "a pair was not run"


def fails(run, place, feeds, expected):
    """Whether the original fails in the same runtime."""
    try:
        return not same(np.asarray(run(place / "model.xml", feeds)), expected)
    except Exception:
        return True


if __name__ == "__main__":
    main()
