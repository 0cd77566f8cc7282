#!/usr/bin/env python3
"""Writes the seeds in fuzz/seeds/: small inputs for each fuzz target, both valid and malicious.

    fuzz/make_seeds.py

It uses the standard library only. HDF5 files are in fuzz/zarr/hdf5.json. It keeps files whose names begin with `found-`: inputs that a fuzzer found.
"""

import base64
import gzip
import io
import json
import random
import struct
import zipfile
import zlib
from pathlib import Path

SEEDS = Path(__file__).resolve().parent / "seeds"
EXAMPLES = SEEDS.parents[1] / "examples"


# npy

def npy_text(text, data=b"", version=(1, 0)):
    size = struct.pack("<H" if version[0] == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes(version) + size + text + data


def npy(descr, shape, data, order=False, version=(1, 0)):
    descr = descr if descr.startswith("[") else repr(descr)
    text = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape!r}, }}".encode()
    head = 10 if version[0] == 1 else 12
    return npy_text(text + b" " * (-(head + len(text) + 1) % 64) + b"\n", data, version)


NPY = {
    "u1": npy("|u1", (2, 3), bytes(range(6))),
    "scalar": npy("<f4", (), bytes(4)),
    "big-endian-fortran": npy(">i2", (2, 3), bytes(range(12)), True),
    "bool": npy("|b1", (3,), b"\0\1\0"),
    "f8": npy("<f8", (2, 1), bytes(16)),
    "complex": npy("<c8", (2,), bytes(range(16))),
    "text": npy("<U3", (2,), "abc".encode("utf-32-le") + "d\0\0".encode("utf-32-le")),
    "text-big-endian": npy(">U2", (2,), "abcd".encode("utf-32-be")),
    "text-no-character": npy("<U1", (1,), b"\xff\xff\xff\xff"),
    "bytes": npy("|S4", (2,), b"abcdef\0\0"),
    "void": npy("|V3", (2,), bytes(6)),
    "bfloat16": npy("<V2", (4,), bytes(range(8))),
    "date": npy("<M8[ns]", (2,), bytes(16)),
    "span": npy("<m8[25us]", (1,), bytes(8)),
    "record": npy("[('a', '<i2'), ('b', '|u1', (2,))]", (2,), bytes(8)),
    "record-nested": npy("[('a', [('b', '<f4'), ('c', '|S2')])]", (1,), bytes(6)),
    "record-titled": npy("[(('title', 'a'), '>u4')]", (1,), bytes(4)),
    "empty": npy("<i4", (0, 5), b""),
    "version-2": npy("<u2", (3,), bytes(6), version=(2, 0)),
    "version-3": npy("[('\xfc', '<u2')]", (1,), bytes(2), version=(3, 0)),
    "lengths": npy("<i8", (3,), struct.pack("<3q", 1, 2, 3)),
    "longdouble": npy("<f16", (1,), bytes(16)),
    "python-2-long": npy_text(b"{'descr': '<i4', 'fortran_order': False, 'shape': (1L,)}\n", bytes(4)),
    "spaced": npy_text(b"{ 'shape' :(2 ,1,), \"descr\" :'|u1','fortran_order':True}", b"ab"),
    "bad-short": npy("<i4", (4,), bytes(15)),
    "bad-long": npy("<i4", (4,), bytes(17)),
    "bad-huge": npy("<i4", (1 << 62, 4), b""),
    "bad-overflow": npy("<i8", (1 << 40, 1 << 40), b""),
    "bad-huge-beside-zero": npy("<i8", (0, (1 << 64) - 1, (1 << 64) - 1), b""),
    "bad-negative": npy("<i4", (-1, -1), b""),
    "bad-objects": npy("|O", (1,), bytes(8)),
    "bad-header-length": b"\x93NUMPY\x02\0\xff\xff\xff\xff{'descr'",
    "bad-no-width": npy("<U0", (1 << 50,), b""),
    "bad-no-width-bytes": npy("|V0", (1 << 60,), b""),
    "bad-no-width-record": npy("[]", (1 << 40,), b""),
    "bad-many-axes": npy("|u1", (1,) * 40, b"x"),
    "bad-deep-record": npy("[('a', " * 12 + "'|u1'" + ")]" * 12, (1,), b"x"),
    "bad-version": npy("|u1", (1,), b"x", version=(9, 9)),
    "bad-key-twice": npy_text(b"{'descr': '|u1', 'descr': '<i8', 'fortran_order': False, 'shape': (1,)}", b"x"),
    "bad-width": npy("<U4294967296", (1,), b""),
}


# npz

def npz(*members, method=zipfile.ZIP_STORED, comment=b""):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.comment = comment
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0)), data, compress_type=method)
    return out.getvalue()


def with_sizes(archive, packed, unpacked):
    """Replaces the sizes in the local header and in the central directory."""
    data = bytearray(archive)
    for mark, at in ((b"PK\3\4", 18), (b"PK\1\2", 20)):
        struct.pack_into("<II", data, data.index(mark) + at, packed, unpacked)
    return bytes(data)


SMALL = NPY["u1"]
DEFLATED = zipfile.ZIP_DEFLATED
STORED = npz(("a.npy", SMALL))
NPZ = {
    "stored": STORED,
    "deflated": npz(("a.npy", SMALL), method=DEFLATED),
    "two": npz(("a.npy", SMALL), ("b.npy", NPY["text"]), method=DEFLATED),
    "empty": npz(),
    "same-name": npz(("a.npy", SMALL), ("a.npy", NPY["f8"])),
    "no-suffix": npz(("a", SMALL)),
    "folder": npz(("d/", b""), ("d/a.npy", SMALL)),
    "comment": npz(("a.npy", SMALL), comment=b"PK\5\6" * 4),
    "record": npz(("r.npy", NPY["record"]), method=DEFLATED),
    "fortran": npz(("r.npy", NPY["big-endian-fortran"]), method=DEFLATED),
    "not-npy": npz(("a.txt", b"hello")),
    "unicode": npz(("\xfc\u202e.npy", SMALL)),
    "before": b"#!/bin/sh\n" + STORED,
    "bad-name-up": npz(("../a.npy", SMALL)),
    "bad-name-absolute": npz(("/a.npy", SMALL)),
    "bad-name-empty": npz((".npy", SMALL)),
    "bad-checksum": STORED.replace(bytes(range(6)), bytes(6)),
    "bad-cut": STORED[:-9],
    "bad-method": STORED.replace(b"PK\3\4\x14\0\0\0\0\0", b"PK\3\4\x14\0\0\0\x63\0"),
    "bad-encrypted": STORED.replace(b"PK\3\4\x14\0\0\0", b"PK\3\4\x14\0\1\0"),
    "bad-size-huge": with_sizes(STORED, 0xFFFFFFF0, 0xFFFFFFF0),
    "bad-size-claimed": with_sizes(npz(("a.npy", SMALL), method=DEFLATED), 40, 0xFFFFFFF0),
    "bad-bomb": npz(("a.npy", npy("|u1", (60000,), bytes(60000))), method=DEFLATED),
    "bad-bomb-short": npz(("a.npy", npy("|u1", (60,), bytes(60000))), method=DEFLATED),
    "bad-shape-huge": npz(("a.npy", NPY["bad-huge"]), method=DEFLATED),
    "bad-no-width": npz(("a.npy", NPY["bad-no-width"]), method=DEFLATED),
    "bad-count": STORED[:-14] + b"\xff\xff\xff\xff" + STORED[-10:],
}


# safetensors

def safetensors(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def one(dtype, shape, start, end, **more):
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end], **more}


SAFETENSORS = {
    "one": safetensors({"w": one("F32", [2, 2], 0, 16)}, bytes(range(16))),
    "two": safetensors({"a": one("U8", [2], 0, 2), "b": one("I64", [], 2, 10)}, bytes(10)),
    "metadata": safetensors({"__metadata__": {"format": "pt"}, "w": one("BF16", [3], 0, 6)}, bytes(6)),
    "packed": safetensors({"w": one("F4", [4], 0, 2)}, b"\x12\x34"),
    "f8": safetensors({"w": one("F8_E4M3", [2], 0, 2), "v": one("F8_E5M2", [1], 2, 3)}, b"abc"),
    "empty": safetensors({}),
    "empty-tensor": safetensors({"w": one("F64", [0, 9], 0, 0)}),
    "bool": safetensors({"w": one("BOOL", [2], 0, 2)}, b"\0\1"),
    "order": safetensors({"b": one("U8", [1], 1, 2), "a": one("U8", [1], 0, 1)}, b"xy"),
    "padded": safetensors(json.dumps({"w": one("U8", [1], 0, 1)}).encode() + b"    ", b"x"),
    "unicode": safetensors({"\u202e\n": one("U8", [1], 0, 1)}, b"x"),
    "c64": safetensors({"w": one("C64", [1], 0, 8)}, bytes(8)),
    "bad-length": struct.pack("<Q", 1 << 63) + b"{}",
    "bad-length-large": struct.pack("<Q", 99_000_000) + b"{}",
    "bad-hole": safetensors({"w": one("U8", [1], 1, 2)}, b"xy"),
    "bad-overlap": safetensors({"a": one("U8", [2], 0, 2), "b": one("U8", [2], 1, 3)}, b"xyz"),
    "bad-beyond": safetensors({"w": one("U8", [9], 0, 9)}, b"xy"),
    "bad-backwards": safetensors({"w": one("U8", [1], 2, 1)}, b"xy"),
    "bad-offset-huge": safetensors({"w": one("U8", [1], (1 << 64) - 1, 0)}, b"x"),
    "bad-shape-overflow": safetensors({"w": one("F32", [1 << 40, 1 << 40], 0, 4)}, bytes(4)),
    "bad-shape-beside-zero": safetensors({"w": one("F32", [0, (1 << 64) - 1], 0, 0)}),
    "bad-type": safetensors({"w": one("Q7", [1], 0, 1)}, b"x"),
    "bad-packed-odd": safetensors({"w": one("F4", [3], 0, 2)}, b"\x12\x34"),
    "bad-key-twice": safetensors(b'{"w":%s,"w":%s}' % ((json.dumps(one("U8", [1], 0, 1)).encode(),) * 2), b"x"),
    "bad-deep": safetensors(b'{"w":' + b"[" * 200 + b"]" * 200 + b"}"),
    "bad-extra-key": safetensors({"w": one("U8", [1], 0, 1, more=[1e400, None])}, b"x"),
    "bad-metadata": safetensors({"__metadata__": {"a": 1}, "w": one("U8", [1], 0, 1)}, b"x"),
    "bad-no-json": safetensors(b"{'w': 1}"),
    "bad-utf8": safetensors(b'{"\xff":1}'),
    "bad-float-shape": safetensors({"w": one("U8", [1.0], 0, 1)}, b"x"),
}


# protocol buffers

def varint(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def field(number, content):
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def tensor(kind, dims, *fields, name="t"):
    packed = b"".join(varint(dim) for dim in dims)
    return field(1, packed) + field(2, kind) + b"".join(fields) + field(8, name)


def entry(key, value):
    return field(13, field(1, key) + field(2, value))


def external(kind, dims, **entries):
    return tensor(kind, dims, *(entry(k, v) for k, v in entries.items()), field(14, 1))


FLOAT, U8, I32, I64, STRING, BOOL, DOUBLE, BF16, U4, I4 = 1, 2, 6, 7, 8, 9, 11, 16, 21, 22
TENSORS = {
    "raw": tensor(FLOAT, [2, 2], field(9, bytes(range(16)))),
    "raw-u4": tensor(U4, [3], field(9, b"\x21\x03")),
    "float-data": tensor(FLOAT, [2], field(4, struct.pack("<2f", 1, 2))),
    "float-data-loose": tensor(FLOAT, [2], *[varint(4 << 3 | 5) + bytes(4)] * 2),
    "int32-data": tensor(I32, [3], field(5, b"".join(map(varint, (1, -2, 300))))),
    "int32-data-u8": tensor(U8, [2], field(5, b"\1\2")),
    "int32-data-i4": tensor(I4, [3], field(5, b"\x21\x03")),
    "int32-data-bf16": tensor(BF16, [1], field(5, varint(0x3F80))),
    "int64-data": tensor(I64, [2], field(7, b"".join(map(varint, (-1, 1 << 40))))),
    "int64-data-loose": tensor(I64, [2], field(7, 1), field(7, 2)),
    "double-data": tensor(DOUBLE, [1], field(10, bytes(8))),
    "uint64-data": tensor(13, [2], field(11, b"\1\2")),
    "strings": tensor(STRING, [3], field(6, "a"), field(6, ""), field(6, b"\xff\xfe")),
    "strings-2d": tensor(STRING, [1, 2], field(6, "\u202e"), field(6, "b" * 40)),
    "bool": tensor(BOOL, [2], field(9, b"\0\1")),
    "scalar": tensor(FLOAT, [], field(9, bytes(4))),
    "no-name": field(2, U8) + field(1, 1) + field(9, b"x"),
    "empty": tensor(FLOAT, [0], field(9, b"")),
    "external": external(U8, [4], location="beside.bin", offset="8", length="4"),
    "external-all": external(U8, [64], location="beside.bin"),
    "doc": tensor(U8, [1], field(9, b"x"), field(12, "words"), field(99, "unknown")),
    "bad-external-up": external(U8, [4], location="../x"),
    "bad-external-absolute": external(U8, [4], location="/etc/passwd"),
    "bad-external-self": external(U8, [4], location="x.pb"),
    "bad-external-beyond": external(U8, [4], location="beside.bin", offset="62"),
    "bad-external-offset": external(U8, [4], location="beside.bin", offset=str(1 << 64)),
    "bad-external-negative": external(U8, [4], location="beside.bin", offset="-8", length="-1"),
    "bad-external-folder": external(U8, [4], location="."),
    "bad-dims-huge": tensor(FLOAT, [1 << 62, 4], field(9, b"")),
    "bad-dims-negative": tensor(FLOAT, [-1], field(9, b"")),
    "bad-dims-beside-zero": tensor(FLOAT, [0, 1 << 62, 1 << 62], field(9, b"")),
    "bad-dims-many": tensor(FLOAT, [1] * 200, field(9, bytes(4))),
    "bad-strings-few": tensor(STRING, [1 << 40], field(6, "a")),
    "bad-two-places": tensor(FLOAT, [1], field(9, bytes(4)), field(4, bytes(4))),
    "bad-type": tensor(99, [1], field(9, b"x")),
    "bad-cut": tensor(FLOAT, [1], field(9, bytes(4)))[:-3],
    "bad-length": b"\x4a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    "bad-group": field(2, U8) + b"\x0b" * 100,
    "bad-varint": b"\x10" + b"\xff" * 11,
    "bad-segment": tensor(U8, [1], field(3, field(1, 0) + field(2, 1)), field(9, b"x")),
}


def node(kind, inputs, outputs, domain="", **attributes):
    out = b"".join(field(1, name) for name in inputs) + b"".join(field(2, name) for name in outputs)
    out += field(3, "n") + field(4, kind)
    for name, value in attributes.items():
        if isinstance(value, int):
            out += field(5, field(1, name) + field(3, value) + field(20, 2))
        else:
            out += field(5, field(1, name) + field(5, value) + field(20, 4))
    return field(1, out + (field(7, domain) if domain else b""))


def info(number, name, kind, dims):
    sizes = b"".join(field(1, field(1 if isinstance(dim, int) else 2, dim)) for dim in dims)
    return field(number, field(1, name) + field(2, field(1, field(1, kind) + field(2, sizes))))


def model(*parts, opset=13, version=8, domain=""):
    sets = field(8, (field(1, domain) if domain else b"") + field(2, opset))
    return field(1, version) + field(7, b"".join(parts) + field(2, "g")) + sets


def lengths(*values, number=5, name="l"):
    return field(number, tensor(I64, [len(values)], field(9, struct.pack(f"<{len(values)}q", *values)), name=name))


X, Y = info(11, "x", U8, ["B", 3]), info(12, "y", U8, ["B", 3])
TURN = node("ReverseSequence", ["x", "l"], ["y"], time_axis=1, batch_axis=0)
MODELS = {
    "words": (EXAMPLES / "words.onnx").read_bytes(),
    "two-inputs": model(TURN, X, info(11, "l", I64, ["B"]), Y),
    "initializer": model(TURN, info(11, "x", U8, [2, 3]), lengths(3, 2), info(12, "y", U8, [2, 3])),
    "default": model(TURN, info(11, "x", U8, [2, 3]), info(11, "l", I64, [2]), lengths(3, 2), Y),
    "constant": model(node("Constant", [], ["l"], value=tensor(I64, [2], field(7, b"\1\2"))), TURN, info(11, "x", FLOAT, [2, 3]), info(12, "y", FLOAT, [])),
    "identity": model(node("Identity", ["x"], ["y"]), X, Y),
    "chain": model(node("Identity", ["x"], ["a"]), node("ReverseSequence", ["a", "l"], ["b"], time_axis=0, batch_axis=1), node("Identity", ["b"], ["y"]), info(11, "x", STRING, [3, 2]), lengths(3, 1), info(12, "y", STRING, [3, 2])),
    "backwards-order": model(node("Identity", ["a"], ["y"]), node("Identity", ["x"], ["a"]), X, Y),
    "strings-initializer": model(TURN, field(5, tensor(STRING, [1, 2], field(6, "a"), field(6, "b"), name="x")), lengths(2), info(12, "y", STRING, [1, 2])),
    "external": model(TURN, info(11, "x", U8, [1, 3]), field(5, external(I64, [1], location="beside.bin", offset="0", length="8")[:-3] + field(8, "l")), info(12, "y", U8, [1, 3])),
    "value-info": model(node("Identity", ["x"], ["a"]), node("Identity", ["a"], ["y"]), X, Y, info(13, "a", U8, ["B", 3])),
    "opset-28": model(TURN, info(11, "x", BF16, [2, 3]), lengths(3, 2), info(12, "y", BF16, [2, 3]), opset=28),
    "no-shape": model(node("Identity", ["x"], ["y"]), field(11, field(1, "x")), field(12, field(1, "y"))),
    "same-output-twice": model(node("Identity", ["x"], ["y"]), X, Y, Y),
    "functions": model(node("Identity", ["x"], ["y"]), X, Y) + field(25, field(1, "f") + field(10, "d")),
    "bad-foreign": model(node("Sin", ["x"], ["y"]), X, Y),
    "bad-domain": model(node("ReverseSequence", ["x", "l"], ["y"], domain="evil"), X, Y, lengths(1)),
    "bad-cycle": model(node("Identity", ["b"], ["a"]), node("Identity", ["a"], ["b"]), info(12, "b", U8, [])),
    "bad-made-twice": model(node("Identity", ["x"], ["y"]), node("Identity", ["x"], ["y"]), X, Y),
    "bad-unmade": model(node("Identity", ["z"], ["y"]), X, Y),
    "bad-axes": model(node("ReverseSequence", ["x", "l"], ["y"], time_axis=-1, batch_axis=1 << 62), X, lengths(1), Y),
    "bad-length-values": model(TURN, info(11, "x", U8, [2, 3]), lengths(-1, 1 << 62), Y),
    "bad-dim-huge": model(node("Identity", ["x"], ["y"]), info(11, "x", DOUBLE, [1 << 40, 1 << 40]), info(12, "y", DOUBLE, [])),
    "bad-dim-negative": model(node("Identity", ["x"], ["y"]), info(11, "x", U8, [-5]), info(12, "y", U8, [])),
    "bad-external-up": model(TURN, X, field(5, external(I64, [1], location="../../etc/passwd")), Y),
    "bad-no-opset": field(1, 8) + field(7, X + Y),
    "bad-no-graph": field(1, 8) + field(8, field(2, 13)),
    "bad-two-graphs": model(X, Y) + model(node("Identity", ["x"], ["y"])),
    "bad-training": model(X, Y) + field(20, field(1, b"")),
    "bad-sparse": model(X, Y, field(15, field(1, tensor(FLOAT, [1], field(9, bytes(4)))))),
    "bad-attribute-graph": model(field(1, field(4, "If") + field(5, field(1, "then_branch") + field(6, field(2, "g")) + field(20, 5))), X, Y),
    "bad-deep": field(7, field(1, field(5, field(6, field(1, field(5, field(6, b""))))))),
    "bad-many-nodes": model(field(1, b"") * 300, Y),
    "bad-cut": model(X, Y, TURN)[:-20],
    "bad-no-outputs": model(X, node("Identity", ["x"], ["y"])),
}


# OpenVINO IR

def port(at, *dims, names="", precision="U8"):
    inner = "".join(f"<dim>{dim}</dim>" for dim in dims)
    names = f' names="{names}"' if names else ""
    return f'<port id="{at}" precision="{precision}"{names}>{inner}</port>'


def layer(at, kind, data="", inputs="", outputs="", name=None, version="opset1"):
    inputs = inputs and f"<input>{inputs}</input>"
    outputs = outputs and f"<output>{outputs}</output>"
    return f'<layer id="{at}" name="{name or f"n{at}"}" type="{kind}" version="{version}">{data}{inputs}{outputs}</layer>'


def edges(*all):
    return "".join(f'<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}"/>' for a, b, c, d in all)


def net(layers, links, weights=None, version=11, head='<?xml version="1.0"?>\n'):
    text = f'{head}<net name="m" version="{version}"><layers>{"".join(layers)}</layers><edges>{links}</edges></net>'
    return text.encode() + (b"" if weights is None else b"\0" + weights)


def parameter(shape="?,3", kind="u8", dims=(-1, 3), precision="U8"):
    return layer(0, "Parameter", f'<data shape="{shape}" element_type="{kind}"/>', outputs=port(0, *dims, names="x", precision=precision), name="x")


def constant(kind, shape, size, offset=0, at=1):
    return layer(at, "Const", f'<data element_type="{kind}" shape="{shape}" offset="{offset}" size="{size}"/>', outputs=port(0, precision=kind.upper()))


RESULT = layer(3, "Result", inputs=port(0))
LINKS = edges((0, 0, 2, 0), (1, 0, 2, 1), (2, 2, 3, 0))


def reverse(mode="index", kind="Reverse", data=None):
    return layer(2, kind, data if data is not None else f'<data mode="{mode}"/>', port(0) + port(1), port(2, names="y"))


SEQUENCE = reverse(kind="ReverseSequence", data='<data batch_axis="0" seq_axis="1"/>')
IR = {
    "turn": (EXAMPLES / "turn.xml").read_bytes() + b"\0" + (EXAMPLES / "turn.bin").read_bytes(),
    "reverse": net([parameter(), constant("i8", "1", 1), reverse(), RESULT], LINKS, b"\xff"),
    "mask": net([parameter(), constant("boolean", "2", 2), reverse("mask"), RESULT], LINKS, b"\0\1"),
    "sequence": net([parameter("2,3", dims=(2, 3)), constant("i32", "2", 8), SEQUENCE, RESULT], LINKS, bytes([3, 0, 0, 0, 1, 0, 0, 0])),
    "sequence-negative": net([parameter("2,3", dims=(2, 3)), constant("i64", "2", 16), reverse(kind="ReverseSequence", data='<data batch_axis="-2" seq_axis="-1"/>'), RESULT], LINKS, struct.pack("<qq", 2, 3)),
    "packed": net([parameter("4,3", "u4", (4, 3), "U4"), constant("i64", "1", 8), reverse(), RESULT], LINKS, bytes(8)),
    "u1": net([parameter("9", "u1", (9,), "BIN"), constant("i64", "1", 8), reverse(), RESULT], LINKS, bytes(8)),
    "string": net([parameter("2,3", "string", (2, 3), "STRING"), constant("i64", "1", 8), reverse(), RESULT], LINKS, bytes(8)),
    "range": net([parameter("1..4,..3"), constant("i8", "1", 1), reverse(), RESULT], LINKS, b"\0"),
    "any-rank": net([parameter("..."), constant("i8", "1", 1), reverse(), RESULT], LINKS, b"\0"),
    "scalar-const": net([parameter(), constant("i64", "", 8), reverse(), RESULT], LINKS, bytes(8)),
    "two-inputs": net([parameter("2,3"), layer(1, "Parameter", '<data shape="2" element_type="i32"/>', outputs=port(0, 2, names="l")), SEQUENCE, RESULT], LINKS),
    "version-10": net([parameter(), constant("i8", "1", 1), reverse(), RESULT], LINKS, b"\1", version=10),
    "entities": net([parameter(), constant("i8", "1", 1), reverse(), RESULT], LINKS, b"\1").replace(b'name="x"', b'name="&#x41;&amp;&lt;"'),
    "rt-info": net([parameter(), constant("i8", "1", 1), reverse(), RESULT], LINKS, b"\1").replace(b"</net>", b"<rt_info><a value='1'/></rt_info></net>"),
    "comments": net([parameter(), "<!-- a -->", constant("i8", "1", 1), reverse(), RESULT], LINKS, b"\1"),
    "bad-dtd": net([parameter()], "", head='<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;&b;">]>').replace(b'name="m"', b'name="&c;"'),
    "bad-deep": b"<net>" + b"<a>" * 300,
    "bad-cycle": net([reverse(), constant("i8", "1", 1), RESULT], edges((2, 2, 2, 0), (1, 0, 2, 1), (2, 2, 3, 0)), b"\1"),
    "bad-foreign": net([parameter(), layer(2, "Sin", inputs=port(0), outputs=port(2)), RESULT], edges((0, 0, 2, 0), (2, 2, 3, 0))),
    "bad-offset": net([parameter(), constant("i8", "1", 1, 1 << 63), reverse(), RESULT], LINKS, b"\1"),
    "bad-size": net([parameter(), constant("i64", "1", (1 << 64) - 1), reverse(), RESULT], LINKS, bytes(8)),
    "bad-size-short": net([parameter(), constant("i64", "2", 8), reverse(), RESULT], LINKS, bytes(8)),
    "bad-shape-huge": net([parameter(), constant("u8", "4611686018427387904,8", 8), reverse(), RESULT], LINKS, bytes(8)),
    "bad-shape-beside-zero": net([parameter(), constant("i64", "0,4611686018427387904,9", 0), reverse(), RESULT], LINKS, b""),
    "bad-shape-text": net([parameter("2,,x", dims=("9" * 30,))], ""),
    "bad-no-weights": net([parameter(), constant("i8", "1", 1), reverse(), RESULT], LINKS),
    "bad-no-net": b"<?xml version='1.0'?><ten/>",
    "bad-layer-twice": net([parameter(), parameter(), RESULT], edges((0, 0, 3, 0))),
    "bad-edge": net([parameter(), RESULT], edges((9, 9, 3, 0), (0, 0, 3, 0), (0, 0, 3, 0))),
    "bad-range": net([parameter("9..1")], ""),
    "bad-mode": net([parameter(), constant("i8", "1", 1), reverse("nedxi"), RESULT], LINKS, b"\1"),
    "bad-attribute-twice": b'<net name="a" name="b" version="11"/>',
    "bad-utf8": b'<net name="\xff\xfe" version="11"><layers/></net>',
    "bad-cut": net([parameter(), RESULT], LINKS)[:-30],
    "bad-version": net([parameter(), RESULT], edges((0, 0, 3, 0)), version=99),
    "string-const": net([parameter("1", "string", (1,)), constant("string", "1", 9), reverse(), RESULT], LINKS, struct.pack("<iii", 1, 0, 1) + b"a"),
    "bad-string-const": net([parameter("1", "string", (1,)), constant("string", "1", 12), reverse(), RESULT], LINKS, struct.pack("<iii", 1, -1, 1 << 30)),
}


# zarr

def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return struct.pack("<I", crc ^ 0xFFFFFFFF)


def zstd(data, claimed=None):
    """A frame of one raw block, of which the header may claim another size."""
    size = struct.pack("<Q", len(data) if claimed is None else claimed)
    return b"\x28\xb5\x2f\xfd\xe0" + size + struct.pack("<I", len(data) << 3 | 1)[:3] + data


def blosc(data, nbytes=None, block=None):
    """A buffer that is only copied, of which the header may claim other sizes."""
    sizes = [len(data) if nbytes is None else nbytes, len(data) if block is None else block, len(data) + 16]
    return b"\x02\x01\x02\x04" + struct.pack("<III", *sizes) + data


def zarr_2(chunk, shape=(4, 3), chunks=(2, 3), compressor=None, order="C", dtype="<i4", **fields):
    metadata = {"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": dtype, "compressor": compressor, "fill_value": 0, "order": order, "filters": None, **fields}
    return json.dumps(metadata).encode() + b"\xff" + chunk


def zarr_3(chunk, codecs=(), shape=(4, 3), chunks=(2, 3), dtype="int32", serializer=None, before=(), **fields):
    serializer = serializer or {"name": "bytes", "configuration": {"endian": "little"}}
    grid = {"name": "regular", "configuration": {"chunk_shape": chunks}}
    keys = {"name": "default", "configuration": {"separator": "/"}}
    metadata = {"zarr_format": 3, "node_type": "array", "shape": shape, "data_type": dtype, "chunk_grid": grid, "chunk_key_encoding": keys, "fill_value": 0, "codecs": [*before, serializer, *codecs], **fields}
    return json.dumps(metadata).encode() + b"\xff" + chunk


def shards(chunk_shape, codecs=(), location="end", index=({"name": "crc32c"},)):
    little = {"name": "bytes", "configuration": {"endian": "little"}}
    return {"name": "sharding_indexed", "configuration": {"chunk_shape": chunk_shape, "codecs": [little, *codecs], "index_codecs": [little, *index], "index_location": location}}


def shard(parts, start=0):
    """Inner chunks and their table; `None` is a missing one."""
    table, data = [], b""
    for part in parts:
        table += [0xFFFFFFFFFFFFFFFF] * 2 if part is None else [start + len(data), len(part)]
        data += part or b""
    table = struct.pack(f"<{len(table)}Q", *table)
    return data, table + crc32c(table)


CHUNK = struct.pack("<6i", *range(6))
ZSTD = {"name": "zstd", "configuration": {"level": 1, "checksum": False}}
GZIP = {"name": "gzip", "configuration": {"level": 1}}
CRC32C = {"name": "crc32c"}
BLOSC = {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0}}
INNER = [CHUNK[:12], CHUNK[12:]]
ZARR = {
    "2-plain": zarr_2(CHUNK),
    "2-zlib": zarr_2(zlib.compress(CHUNK), compressor={"id": "zlib", "level": 1}),
    "2-gzip-columns": zarr_2(gzip.compress(CHUNK, mtime=0), compressor={"id": "gzip", "level": 1}, order="F"),
    "2-zstd-big-endian": zarr_2(zstd(CHUNK), compressor={"id": "zstd", "level": 1}, dtype=">i4"),
    "2-blosc": zarr_2(blosc(CHUNK), compressor={"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}),
    "3-plain": zarr_3(CHUNK),
    "3-zstd": zarr_3(zstd(CHUNK), [ZSTD]),
    "3-gzip-crc32c": zarr_3((lambda part: part + crc32c(part))(gzip.compress(CHUNK, mtime=0)), [GZIP, CRC32C]),
    "3-blosc": zarr_3(blosc(CHUNK), [BLOSC]),
    "3-zstd-gzip": zarr_3(gzip.compress(zstd(CHUNK), mtime=0), [ZSTD, GZIP]),
    "3-transpose": zarr_3(zstd(CHUNK), [ZSTD], before=[{"name": "transpose", "configuration": {"order": [1, 0]}}]),
    "3-shards": zarr_3(b"".join(shard(INNER)), serializer=shards([1, 3])),
    "3-shards-start": zarr_3(b"".join(reversed(shard([None, zstd(INNER[1])], 36))), serializer=shards([1, 3], [ZSTD], "start")),
    "3-shards-deep": zarr_3(b"".join(shard([b"".join(shard([part[:4], None, part[8:]])) for part in INNER])), serializer={"name": "sharding_indexed", "configuration": {"chunk_shape": [1, 3], "codecs": [shards([1, 1])], "index_codecs": shards([1])["configuration"]["index_codecs"]}}),
    "3-shards-gzip": zarr_3(gzip.compress(b"".join(shard(INNER)), mtime=0), [GZIP], serializer=shards([1, 3])),
    "3-scalar": zarr_3(zstd(CHUNK[:4]), [ZSTD], shape=(), chunks=()),
    "3-strings": zarr_3(b"\1\0\0\0\1\0\0\0a", [], dtype="string", serializer={"name": "vlen-utf8"}, fill_value="", shape=(2,), chunks=(1,)),
    "bad-zstd-claim": zarr_3(zstd(b"", 1 << 45), [ZSTD]),
    "bad-zstd-long": zarr_3(zstd(CHUNK * 2), [ZSTD]),
    "bad-zlib-bomb": zarr_2(zlib.compress(bytes(1 << 20)), compressor={"id": "zlib", "level": 1}),
    "bad-gzip-bomb": zarr_3(gzip.compress(bytes(1 << 20), mtime=0), [GZIP]),
    "bad-gzip-in-gzip": zarr_3(gzip.compress(gzip.compress(bytes(1 << 24), mtime=0), mtime=0), [GZIP, GZIP]),
    "bad-blosc-claim": zarr_3(blosc(CHUNK, nbytes=0x7FFFFFFF), [BLOSC]),
    "bad-blosc-block": zarr_3(blosc(CHUNK, block=0x7FFFFFFF), [BLOSC]),
    "bad-crc32c": zarr_3(CHUNK + b"\0\0\0\0", [CRC32C]),
    "bad-shard-place": zarr_3((lambda table: INNER[0] + table + crc32c(table))(struct.pack("<4Q", 0, 12, 2**64 - 4, 8)), serializer=shards([1, 3])),
    "bad-shard-table": zarr_3(b"", serializer=shards([1, 3])),
    "bad-shard-rank": zarr_3(CHUNK, serializer=shards([1])),
    "bad-shards-many": zarr_3(CHUNK, chunks=(2**40, 3), serializer=shards([1, 1])),
    "bad-chunk-huge": zarr_3(CHUNK, chunks=(2**40, 2**20), codecs=[ZSTD]),
    "bad-chunk-overflow": zarr_3(CHUNK, chunks=(2**40, 2**40), codecs=[ZSTD]),
    "bad-shape-overflow": zarr_3(CHUNK, shape=(2**63, 2**63), chunks=(1, 1)),
    "bad-chunk-zero": zarr_3(CHUNK, chunks=(0, 3)),
    "bad-codec": zarr_3(CHUNK, [{"name": "none"}]),
    "bad-endian": zarr_3(CHUNK, serializer={"name": "bytes"}),
    "bad-json": b"{\xff",
    "bad-deep": b"[" * 2000,
    "sparse": zarr_3(CHUNK, shape=(2**40, 3), chunks=(1, 3), codecs=[ZSTD]),
}

# hdf5: files of h5py, which the standard library cannot write, deflated and in base 85.
HDF5 = {name: zlib.decompress(base64.b85decode(text)) for name, text in json.loads((SEEDS.parent / "zarr/hdf5.json").read_text()).items()}


def noise(first, count):
    """Random inputs for the targets that decode bytes into decisions. The first byte selects the kind of call."""
    dice = random.Random(1)
    out = {}
    for kind in first:
        for at in range(count):
            out[f"kind-{kind}-{at:02}"] = bytes([kind]) + dice.randbytes(24 + 8 * (at % 6))
    return out


ALL = {
    "npy": NPY,
    "npz": NPZ,
    "safetensors": SAFETENSORS,
    "tensor_proto": TENSORS,
    "onnx_model": MODELS,
    "ir": IR,
    "zarr": ZARR,
    "hdf5": {**HDF5, "bad-cut": HDF5["gzip"][:1000], "bad-signature": HDF5["gzip"][:8]},
    "directml": {"zeros": b"\0", **noise(range(4), 6)},
    "differential": {"zeros": b"\0", **noise(range(4), 9)},
}


def main():
    for target, seeds in ALL.items():
        folder = SEEDS / target
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            if not old.name.startswith("found-"):
                old.unlink()
        for name, content in seeds.items():
            (folder / name).write_bytes(content)
        print(f"{target}: {len(seeds)} seeds, {sum(map(len, seeds.values()))} bytes")


if __name__ == "__main__":
    main()
