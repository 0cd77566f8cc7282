"""Reads the exported cases with the tools that they are for.

    python exported.py RETROGRADE

ONNX: the official runner of the onnx package, on its reference evaluator.
StableHLO: MLIR's parser and verifier, from jaxlib. npy: NumPy. What is not installed is skipped.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts/parts"))

import deadline  # noqa: E402

os.environ.setdefault("JAX_PLATFORMS", "cpu")


def onnx_runner(folder):
    """Every test folder through `onnx.backend.test`."""
    import unittest

    import onnx.backend.test
    import onnx.backend.test.loader as loader
    import onnx.reference
    from onnx.backend.base import Backend, BackendRep

    class Reference(Backend):
        @classmethod
        def prepare(cls, model, device="CPU", **options):
            evaluator = onnx.reference.ReferenceEvaluator(model)

            class Prepared(BackendRep):
                def run(self, inputs, **options):
                    names = [one.name for one in model.graph.input]
                    return tuple(evaluator.run(None, dict(zip(names, inputs))))

            return Prepared()

        @classmethod
        def supports_device(cls, device):
            return device == "CPU"

    tests = loader.load_model_tests(str(folder), "reversal")
    runner = onnx.backend.test.runner.Runner(Reference, "kit")
    for test in tests:
        runner._add_model_test(test, "Reversal")
    # The runner also has ONNX's own tests.
    case = runner.test_cases["OnnxBackendReversalModelTest"]
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(case)
    result = unittest.TestResult()
    suite.run(result)
    failed = [str(test).split(" ")[0] for test, _ in result.failures + result.errors]
    ran = result.testsRun - len(result.skipped)
    print(f"onnx: {len(tests)} tests loaded, {ran} run by the official runner, {len(failed)} failed")
    assert len(tests) == ran >= 300 and not failed, failed[:10]


def stablehlo(folder):
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir

    good = bad = 0
    with mlir.make_ir_context():
        for path in sorted(folder.rglob("*.mlir")):
            try:
                valid = ir.Module.parse(path.read_text()).operation.verify()
            except ir.MLIRError:
                valid = False
            expected = path.parent.name != "refused"
            assert valid == expected, f"{path.name}: {'refused' if expected else 'accepted'} by MLIR"
            good, bad = good + valid, bad + (not valid)
    print(f"stablehlo: {good} files parsed and verified, {bad} that must be refused are")
    assert good > 200


def npy(folder):
    count, archives = 0, {}
    for case in json.loads((folder / "manifest.json").read_text())["cases"]:
        (name,) = case["files"]
        if name not in archives:
            archives[name] = np.load(folder / name)
        if case["input"]["dtype"] == "string":
            continue
        found = archives[name][f"{case['id']}/input"]
        packed = case["input"]["dtype"] in ("f4e2m1", "nf4", "u4", "i4", "u2", "i2", "u1")
        assert packed or list(found.shape) == case["input"]["shape"], case["id"]
        if "refused" not in case["expected"]:
            assert archives[name][f"{case['id']}/expected"].dtype == found.dtype
        count += 1
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"npy: {count} cases in {len(archives)} archives, {size / 1e6:.1f} MB with the manifest")


def main():
    program = Path(sys.argv[1]).resolve()
    for name, check in {"npy": npy, "onnx": onnx_runner, "stablehlo": stablehlo}.items():
        with tempfile.TemporaryDirectory() as folder:
            deadline.run([program, "-q", "conformance", "export", folder, "--format", name], check=True)
            try:
                check(Path(folder))
            except ImportError as error:
                print(f"{name}: SKIPPED, {error}")


if __name__ == "__main__":
    main()
