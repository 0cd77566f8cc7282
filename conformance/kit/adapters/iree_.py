"""Adapter for IREE on the CPU: `stablehlo.reverse`, compiled for each shape, type and list of axes.

Negative axes do not exist in StableHLO, and what its verifier refuses says nothing about IREE.
"""

from protocol import Unsupported, WIDTHS, from_numpy, serve

MLIR = {
    "bool": "i1", "u8": "ui8", "i8": "i8", "u16": "ui16", "i16": "i16", "u32": "ui32", "i32": "i32",
    "u64": "ui64", "i64": "i64", "f16": "f16", "bf16": "bf16", "f32": "f32", "f64": "f64",
    "c64": "complex<f32>", "c128": "complex<f64>",
}  # fmt: skip


def start():
    from importlib.metadata import version

    import iree.compiler.tools as compiler
    import iree.runtime as runtime
    import numpy as np

    functions = {}

    def text(call, axes):
        name = call.input.dtype
        if name not in MLIR or WIDTHS[name] < 8:
            raise Unsupported(f"no {name} through this adapter")
        sizes = "".join(f"{size}x" for size in call.input.shape)
        of = f"tensor<{sizes}{MLIR[name]}>"
        return (
            f"func.func @main(%x: {of}) -> {of} {{\n"
            f"  %y = stablehlo.reverse %x, dims = {axes} : {of}\n  return %y : {of}\n}}\n"
        )

    def function(call, axes):
        source = text(call, axes)
        if source not in functions:
            binary = compiler.compile_str(
                source, input_type="stablehlo", target_backends=["llvm-cpu"],
                extra_args=["--iree-llvmcpu-target-cpu=generic", "--iree-input-demote-f64-to-f32=false"],
            )  # fmt: skip
            module = runtime.load_vm_flatbuffer(binary, driver="local-sync")
            functions[source] = module.main
        return functions[source]

    def run(call):
        axes = call.argument.numpy().tolist()
        if any(axis < 0 for axis in axes):
            raise Unsupported("StableHLO has no negative axes")
        if any(axis >= len(call.input.shape) for axis in axes) or len(set(axes)) < len(axes):
            raise Unsupported("StableHLO's verifier refuses it")
        result = function(call, axes)(np.ascontiguousarray(call.input.numpy()))
        return from_numpy(result.to_host(), call.input.dtype)

    return version("iree-base-compiler"), run


if __name__ == "__main__":
    serve("iree", ["Flip"], start, "pip install iree-base-compiler iree-base-runtime numpy")
