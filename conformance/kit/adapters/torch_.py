"""Adapter for PyTorch: `torch.flip` on the CPU. Tensors are made from bytes, so nothing converts."""

from protocol import Unsupported, WIDTHS, serve

NAMES = {
    "bool": "bool", "u8": "uint8", "i8": "int8", "u16": "uint16", "i16": "int16", "u32": "uint32",
    "i32": "int32", "u64": "uint64", "i64": "int64", "f16": "float16", "bf16": "bfloat16",
    "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128",
    "f8e4m3fn": "float8_e4m3fn", "f8e4m3fnuz": "float8_e4m3fnuz", "f8e5m2": "float8_e5m2",
    "f8e5m2fnuz": "float8_e5m2fnuz", "f8e8m0": "float8_e8m0fnu",
}  # fmt: skip


def start():
    import torch

    ours = {getattr(torch, theirs): name for name, theirs in NAMES.items() if hasattr(torch, theirs)}

    def run(call):
        theirs = NAMES.get(call.input.dtype)
        if theirs is None or not hasattr(torch, theirs):
            raise Unsupported(f"PyTorch has no {call.input.dtype}")
        dtype, data = getattr(torch, theirs), call.input.data
        if data:
            x = torch.frombuffer(bytearray(data), dtype=torch.uint8).view(dtype)
        else:
            x = torch.empty(0, dtype=dtype)
        y = torch.flip(x.reshape(call.input.shape), call.argument.numpy().tolist()).contiguous()
        raw = y.reshape(-1).view(torch.uint8).numpy().tobytes() if y.numel() else b""
        assert len(raw) == y.numel() * WIDTHS[ours[y.dtype]] // 8
        return ours[y.dtype], list(y.shape), raw

    return torch.__version__, run


if __name__ == "__main__":
    serve("torch", ["Flip"], start, "pip install torch numpy")
