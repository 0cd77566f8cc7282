"""An adapter for the conformance kit, without dependencies: Flip on types of whole bytes.

    retrograde conformance run --runtime "python3 adapter.py"

Replace `flip` by a call of your runtime.
"""

import json
import sys

BYTES = {
    "bool": 1, "u8": 1, "i8": 1, "u16": 2, "i16": 2, "u32": 4, "i32": 4, "u64": 8, "i64": 8,
    "f16": 2, "bf16": 2, "f32": 4, "f64": 8, "c64": 8, "c128": 16,
}  # fmt: skip


def flip(elements, shape, axes):
    """Elements in row-major order, reversed along some axes."""
    out = []
    for at in range(len(elements)):
        source, rest, step = 0, at, 1
        for axis in reversed(range(len(shape))):
            rest, index = divmod(rest, shape[axis])
            source += step * (shape[axis] - 1 - index if axis in axes else index)
            step *= shape[axis]
        out.append(elements[source])
    return out


def answer(request):
    tensor, axes = request["input"], request["axes"]
    width, rank = BYTES.get(tensor["dtype"]), len(tensor["shape"])
    if width is None:
        return {"outcome": "unsupported", "message": f"no {tensor['dtype']}"}
    raw = bytes.fromhex(axes["data"])
    axes = [int.from_bytes(raw[at : at + 8], "little", signed=True) for at in range(0, len(raw), 8)]
    if any(not -rank <= axis < rank for axis in axes):
        return {"outcome": "refused", "message": f"axes {axes} of rank {rank}"}
    axes = [axis % rank for axis in axes]
    if len(set(axes)) < len(axes):
        return {"outcome": "refused", "message": f"axes {axes} name one twice"}
    data = bytes.fromhex(tensor["data"])
    elements = [data[at : at + width] for at in range(0, len(data), width)]
    data = b"".join(flip(elements, tensor["shape"], axes)).hex()
    return {"outcome": "value", "output": {**tensor, "data": data}}


for line in sys.stdin:
    request = json.loads(line)
    if "hello" in request:
        reply = {"protocol": 1, "runtime": "example-python", "version": "1", "operators": ["Flip"]}
    else:
        reply = {"id": request["id"], **answer(request)}
    print(json.dumps(reply), flush=True)
