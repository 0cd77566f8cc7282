"""Exports reversals from a framework and runs the models here, bit for bit.

usage: exported.py RETROGRADE_BINARY torch|tensorflow|jax

Each function is exported with every exporter of its framework that can (PyTorch: both of
`torch.onnx.export`; TensorFlow: tf2onnx; JAX: jax2onnx), with fixed and with free sizes, and each
ONNX model is also converted by OpenVINO (`convert_model`) and saved as IR. PyTorch and TensorFlow
functions are converted by OpenVINO directly too. The command must give what NumPy gives. The
framework's own runtime (ONNX Runtime, OpenVINO) is compared as well; where it differs or an exporter
fails, the run prints it. `scripts/test frameworks` runs this, because the packages are large.
"""

import contextlib
import io
import logging
import os
import sys
import warnings
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import numpy as np
import onnx
import onnxruntime as ort
import openvino as ov

from modelling import Folder, check, reverse_sequence, same, summary

SHAPE = (2, 4, 3)
X = np.random.default_rng(3).standard_normal(SHAPE, np.float32)
LENS = np.array([3, 1])
#: What was exported, by framework and exporter, and whether it ran.
RESULTS = []
ort.set_default_logger_severity(4)


def arguments_of(names, arrays, folder):
    arguments = []
    for at, (name, array) in enumerate(zip(names, arrays)):
        np.save(folder / f"{at}.npy", array)
        arguments += ["-i", f"{name}={at}.npy"]
    return arguments


def compare(binary, what, path, names, arrays, expected, refused=None):
    """Runs a model; one that must be refused names an operator."""
    with Folder(binary) as folder:
        done = folder.run(path, *arguments_of(names, arrays, folder), "-d", "out", "--to", "npy")
        if refused is not None:
            ok = done.returncode == 1 and refused in done.stderr and done.stderr.count("\n") == 1
            check("exported: refused by name", ok, (what, done.stderr))
            RESULTS.append((what, f"refused, names {refused}" if ok else "WRONG ERROR"))
            return
        if done.returncode:
            check("exported", False, (what, done.stderr.strip()))
            RESULTS.append((what, "REFUSED"))
            return
        (file,) = (folder / "out").iterdir()
        ok = same(np.load(file), np.array(expected, order="C"))
        check("exported", ok, (what, np.load(file), expected))
        RESULTS.append((what, "same bits" if ok else "DIFFERS"))


def on_onnx(binary, what, path, arrays, expected, refused=None):
    """An ONNX model, and what OpenVINO makes of it."""
    model = onnx.load(path)
    names = [own.name for own in model.graph.input]
    arrays = list(arrays)
    for at, own in enumerate(model.graph.input):
        # Exporters choose the type of lengths.
        arrays[at] = arrays[at].astype(onnx.helper.tensor_dtype_to_np_dtype(own.type.tensor_type.elem_type))
    try:
        # Without optimizations: with them, 1.31.1 loses the elements of a Range with a negative step.
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        found = session.run(None, dict(zip(names, arrays)))[0]
        check("ONNX Runtime", same(found, np.array(expected, order="C")), what)
    except Exception as error:  # noqa: BLE001 - whatever the runtime raises
        print(f"ONNX Runtime: {what}: {str(error).splitlines()[0][:160]}")
    kinds = [node.op_type for node in model.graph.node if node.op_type != "Constant"]
    print(f"  {what}: opset {model.opset_import[0].version}, {' '.join(kinds)}")
    compare(binary, what, path, names, arrays, expected, refused)
    if refused is None:
        on_openvino(binary, f"{what} > OpenVINO", lambda: ov.convert_model(path), names, arrays, expected)


def on_openvino(binary, what, convert, names, arrays, expected):
    """A model that OpenVINO converts, saved as IR."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            model = convert()
        found = ov.Core().compile_model(model, "CPU")(arrays)[0]
    except Exception as error:  # noqa: BLE001 - whatever the converter raises
        lines = [line for line in str(error).splitlines() if line.strip()]
        print(f"OpenVINO cannot convert: {what}: {lines[0][:100] if lines else type(error).__name__}")
        return
    if not same(np.array(found, order="C"), np.array(expected, order="C")):
        print(f"OpenVINO differs: {what}")
    with Folder(binary) as folder:
        ov.save_model(model, str(folder / "m.xml"), compress_to_fp16=False)
        own = [port.get_any_name() if port.get_names() else port.get_node().get_friendly_name() for port in model.inputs]
        kinds = [node.get_type_name() for node in model.get_ordered_ops()]
        kinds = [kind for kind in kinds if kind not in ("Parameter", "Result", "Constant")]
        print(f"  {what}: {' '.join(kinds)}")
        compare(binary, what, folder / "m.xml", own, arrays, expected)


# --- PyTorch -----------------------------------------------------------------------------


def torch_functions():
    import torch

    def padded(x, lens):
        """The usual way to reverse a padded batch: indices from lengths."""
        t = torch.arange(x.shape[1])[None, :]
        index = torch.where(t < lens[:, None], lens[:, None] - 1 - t, t)
        return torch.gather(x, 1, index[:, :, None].expand(-1, -1, x.shape[2]))

    def both(x, lens):
        """The input of a bidirectional layer: forwards and backwards."""
        return torch.cat([x, padded(x, lens)], -1)

    def operator(x, lens):
        return torch.onnx.ops.symbolic(
            "ReverseSequence", (x, lens.to(torch.int64)), {"time_axis": 1, "batch_axis": 0},
            dtype=x.dtype, shape=x.shape, version=10,
        )  # fmt: skip

    class Operator(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, lens):
            return padded(x, lens)

        @staticmethod
        def symbolic(g, x, lens):
            return g.op("ReverseSequence", x, lens, time_axis_i=1, batch_axis_i=0).setType(x.type())

    reversed_ = reverse_sequence(X, LENS, 1, 0)
    lens = (LENS,)
    # Name, function, other inputs, result, and exporters (True: torch.export) that can export it.
    return [
        ("flip", lambda x: torch.flip(x, [1]), (), X[:, ::-1], (False, True)),
        ("flip of two axes", lambda x: torch.flip(x, [0, -1]), (), X[::-1, :, ::-1], (False, True)),
        ("fliplr", torch.fliplr, (), X[:, ::-1], (True,)),
        ("rot90", lambda x: torch.rot90(x, 1, [0, 1]), (), np.rot90(X), (True,)),
        ("slice, transpose, flip", lambda x: torch.flip(x[:, 1:3].transpose(0, 1), [0]), (), X[:, 1:3].transpose(1, 0, 2)[::-1], (False, True)),
        ("flip and concatenate", lambda x: torch.cat([x, torch.flip(x, [1])], -1), (), np.concatenate([X, X[:, ::-1]], -1), (False, True)),
        ("index by a range", lambda x: x[:, torch.arange(x.shape[1] - 1, -1, -1)], (), X[:, ::-1], (False, True)),
        ("padded", padded, lens, reversed_, (False, True)),
        ("padded, both directions", both, lens, np.concatenate([X, reversed_], -1), (False, True)),
        ("padded, ReverseSequence", operator, lens, reversed_, (True,)),
        ("padded, ReverseSequence of a Function", Operator.apply, lens, reversed_, (False,)),
        ("flip and relu", lambda x: torch.relu(torch.flip(x, [1])), (), np.maximum(X[:, ::-1], 0), (False, True)),
    ]  # fmt: skip


def with_torch(binary, folder):
    import torch

    class One(torch.nn.Module):
        def __init__(self, function):
            super().__init__()
            self.function = function

        def forward(self, x):
            return self.function(x)

    class Two(One):
        def forward(self, x, lens):
            return self.function(x, lens)

    logging.disable(logging.ERROR)
    for name, function, more, expected, exporters in torch_functions():
        module = Two(function) if more else One(function)
        inputs = (torch.from_numpy(X.copy()), *map(torch.from_numpy, more))
        names = ["x", "lens"][: len(inputs)]
        if name != "padded, ReverseSequence":  # which has no kernel: it exists in exported models only
            check("torch", same(module(*inputs).numpy(), np.array(expected, order="C")), name)
        refused = "(Relu)" if "relu" in name else None
        for dynamo in exporters:
            for free in (False, True):
                what = f"torch {'export' if dynamo else 'script'}: {name}{', free sizes' if free else ''}"
                path = folder / f"{len(RESULTS)}.onnx"
                options = {}
                if free and dynamo:
                    free_size = torch.export.Dim.DYNAMIC
                    options["dynamic_shapes"] = ({0: free_size, 1: free_size}, {0: free_size})[: len(inputs)]
                elif free:
                    options["dynamic_axes"] = {"x": {0: "B", 1: "T"}, "lens": {0: "B"}}
                try:
                    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                        torch.onnx.export(module, inputs, str(path), input_names=names, output_names=["y"], dynamo=dynamo, **options)
                except Exception as error:  # noqa: BLE001 - whatever the exporter raises
                    print(f"cannot export: {what}: {str(error).splitlines()[0][:120]}")
                    continue
                on_onnx(binary, what, path, [X, *more], expected, refused)
        if refused is None and "ReverseSequence" not in name:
            on_openvino(binary, f"torch > OpenVINO: {name}", lambda m=module, i=inputs: ov.convert_model(m, example_input=i), names, [X, *more], expected)  # fmt: skip


# --- TensorFlow --------------------------------------------------------------------------


def with_tensorflow(binary, folder):
    import tensorflow as tf
    import tf2onnx

    logging.disable(logging.ERROR)
    int32 = (LENS.astype(np.int32),)
    cases = [
        ("reverse", lambda x: tf.reverse(x, [1]), (), X[:, ::-1]),
        ("reverse of two axes", lambda x: tf.reverse(x, [0, 2]), (), X[::-1, :, ::-1]),
        ("reverse and transpose", lambda x: tf.transpose(tf.reverse(x, [1]), [1, 0, 2]), (), X[:, ::-1].transpose(1, 0, 2)),
        ("x[:, ::-1]", lambda x: x[:, ::-1], (), X[:, ::-1]),
        ("x[::-1, 1:]", lambda x: x[::-1, 1:], (), X[::-1, 1:]),
        ("x[0, ..., ::-2]", lambda x: x[0, ..., ::-2], (), X[0, ..., ::-2]),
        ("reverse_sequence", lambda x, n: tf.reverse_sequence(x, n, seq_axis=1, batch_axis=0), int32, reverse_sequence(X, LENS, 1, 0)),
        ("reverse_sequence, time first", lambda x, n: tf.reverse_sequence(x, n, seq_axis=0, batch_axis=1), (np.array([2, 1, 0, 2]),), reverse_sequence(X, [2, 1, 0, 2], 0, 1)),
        ("both directions", lambda x, n: tf.concat([x, tf.reverse_sequence(x, n, seq_axis=1, batch_axis=0)], -1), int32, np.concatenate([X, reverse_sequence(X, LENS, 1, 0)], -1)),
    ]  # fmt: skip
    for name, function, more, expected in cases:
        for free in (False, True):
            shape = [None, None, SHAPE[2]] if free else list(SHAPE)
            specs = [tf.TensorSpec(shape, tf.float32, "x")]
            specs += [tf.TensorSpec([None] if free else list(n.shape), n.dtype, "lens") for n in more]
            compiled = tf.function(function, input_signature=specs, autograph=False)
            arrays = [X, *more]
            check("tensorflow", same(compiled(*arrays).numpy(), np.array(expected, order="C")), name)
            for opset in (11, 13, 18):
                what = f"tf2onnx: {name}{', free sizes' if free else ''}, opset {opset}"
                path = folder / f"{len(RESULTS)}.onnx"
                try:
                    tf2onnx.convert.from_function(compiled, input_signature=specs, opset=opset, output_path=str(path))
                except Exception as error:  # noqa: BLE001 - whatever the exporter raises
                    print(f"cannot export: {what}: {str(error).splitlines()[0][:120]}")
                    continue
                on_onnx(binary, what, path, arrays, expected)
            what = f"TensorFlow > OpenVINO: {name}{', free sizes' if free else ''}"
            on_openvino(binary, what, lambda f=compiled: ov.convert_model(f.get_concrete_function()), None, arrays, expected)


# --- JAX ---------------------------------------------------------------------------------


def with_jax(binary, folder):
    import jax
    import jax.numpy as jnp
    from jax2onnx import to_onnx

    logging.disable(logging.ERROR)
    cases = [
        ("flip", lambda x: jnp.flip(x, 1), X[:, ::-1]),
        ("flip of all axes", jnp.flip, X[::-1, ::-1, ::-1]),
        ("x[::-1]", lambda x: x[::-1], X[::-1]),
        ("x[:, ::-2]", lambda x: x[:, ::-2], X[:, ::-2]),
        ("rot90", jnp.rot90, np.rot90(X)),
    ]
    for name, function, expected in cases:
        check("jax", same(np.asarray(function(jnp.asarray(X))), np.array(expected, order="C")), name)
        for free in (False, True):
            what = f"jax2onnx: {name}{', free sizes' if free else ''}"
            path = folder / f"{len(RESULTS)}.onnx"
            try:
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    onnx.save(to_onnx(function, [("B" if free else 2, 4, 3)]), path)
            except Exception as error:  # noqa: BLE001 - whatever the exporter raises
                print(f"cannot export: {what}: {str(error).splitlines()[0][:120]}")
                continue
            on_onnx(binary, what, path, [X], expected)
        convert = lambda f=function: ov.convert_model(jax.make_jaxpr(f)(jnp.asarray(X)))  # noqa: E731
        on_openvino(binary, f"JAX > OpenVINO: {name}", convert, ["x"], [X], expected)


def main():
    frameworks = {"torch": with_torch, "tensorflow": with_tensorflow, "jax": with_jax}
    if len(sys.argv) != 3 or sys.argv[2] not in frameworks:
        sys.exit(__doc__)
    warnings.simplefilter("ignore")
    with Folder(None) as folder:
        frameworks[sys.argv[2]](str(Path(sys.argv[1]).resolve()), folder)
    for what, result in RESULTS:
        print(f"{what}: {result}")
    return summary(f"models exported from {sys.argv[2]}")


if __name__ == "__main__":
    sys.exit(main())
