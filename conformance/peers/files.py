"""Checks the command's files against the libraries that read and write the formats.

usage: files.py RETROGRADE_BINARY [quick]

Round trips: NumPy, safetensors and ONNX write files, the command reverses them into every format,
the libraries read the results, and these are compared byte for byte. Then files with false headers,
each with its error, in little memory. Then full disks and memory limits.

With `quick` each type has one shape instead of five, in turn, and no file is large.
"""

import io
import itertools
import json
import os
import resource
import struct
import sys
import tempfile
import warnings
import zipfile
import zlib
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors import TensorSpec, deserialize, serialize

from modelling import check, deadline, reverse_sequence, summary, varint

# The most memory that a small file may cost, whatever its header says: a limit (RLIMIT_DATA) on the
# private memory of the command, including thread stacks. Beyond it, the command would abort.
MOST_MEMORY = (32 << 20) + (4 << 20) * os.cpu_count()


class Run:
    """One run of the command: exit code, output and errors."""

    def __init__(self, binary, *arguments, stdin=b"", cwd=None, memory=None):
        with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            source.write(stdin)
            source.seek(0)
            limit = None if memory is None else lambda: resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
            command = [str(binary), *map(str, arguments)]
            done = deadline.run(command, stdin=source, stdout=out, stderr=err, cwd=cwd, preexec_fn=limit)
            out.seek(0), err.seek(0)
            self.code, self.stdout, self.stderr = done.returncode, out.read(), err.read().decode()


# --- The formats as the libraries write and read them ------------------------------------

OWN_NAMES = {  # the command's names of types that a .npy file does not name
    "bfloat16": "bf16", "float8_e4m3fn": "f8e4m3fn", "float8_e5m2": "f8e5m2",
    "float8_e4m3fnuz": "f8e4m3fnuz", "float8_e5m2fnuz": "f8e5m2fnuz", "float8_e8m0fnu": "f8e8m0",
}  # fmt: skip
RAW_NAMES = {
    "bool": "bool", "uint8": "u8", "int8": "i8", "uint16": "u16", "int16": "i16", "uint32": "u32",
    "int32": "i32", "uint64": "u64", "int64": "i64", "float16": "f16", "float32": "f32",
    "float64": "f64", "complex64": "c64", "complex128": "c128", **OWN_NAMES,
}  # fmt: skip
# safetensors' own names of these types.
SAFETENSORS = RAW_NAMES.keys() - {"complex128"}


def raw_name(dtype):
    return RAW_NAMES.get(dtype.name) or f"bytes{dtype.itemsize}"


def write_npy(path, x, version=None):
    with open(path, "wb") as file:
        np.lib.format.write_array(file, x, version=version)


def write_safetensors(path, x, name="x", others=()):
    tensors = {}
    little = np.array(x.astype(x.dtype.newbyteorder("<")), order="C")
    for key, value in [(name, little), *others]:
        tensors[key] = TensorSpec(
            dtype=value.dtype.name, shape=list(value.shape),
            data_ptr=value.ctypes.data, data_len=value.nbytes,
        )  # fmt: skip
    Path(path).write_bytes(serialize(tensors))


def has_onnx(dtype):
    return dtype.kind in "SU" or dtype.name in RAW_NAMES


def strings_of(x):
    return [v if isinstance(v, bytes) else str(v).encode() for v in x.ravel().tolist()]


def pb_bytes(x, name="x"):
    if x.dtype.kind in "SU":
        proto = helper.make_tensor(name, TensorProto.STRING, x.shape, strings_of(x))
    else:
        proto = numpy_helper.from_array(np.array(x.astype(x.dtype.newbyteorder("<")), order="C"), name)
    return proto.SerializeToString()


def named(dtype):
    """Only .npy files need an extension type as an option, and only for formats that store it."""
    return ["--dtype", OWN_NAMES[dtype.name]] if dtype.name in OWN_NAMES else []


def inputs(folder, x):
    """The array in every format that can hold it: (arguments, in row-major little-endian)."""
    npy = folder / "in.npy"
    np.save(npy, x)
    said = named(x.dtype)
    yield [npy, *said]
    for version in [(1, 0), (2, 0), (3, 0)]:
        write_npy(folder / f"in{version[0]}.npy", x, version)
        yield [folder / f"in{version[0]}.npy", *said]
    np.savez(folder / "in.npz", other=np.zeros(3), x=x)
    yield [f"{folder}/in.npz:x", *said]
    np.savez_compressed(folder / "deflated.npz", x)
    yield [folder / "deflated.npz", *said]
    if x.dtype.name in SAFETENSORS:
        write_safetensors(folder / "in.safetensors", x, "x", [("a", np.ones(5, np.float32))])
        yield [f"{folder}/in.safetensors:x"]
    if has_onnx(x.dtype):
        (folder / "in.pb").write_bytes(pb_bytes(x))
        yield [folder / "in.pb"]
    little = x.astype(x.dtype.newbyteorder("<"), copy=False)
    (folder / "in.raw").write_bytes(little.tobytes())
    shape = ",".join(map(str, x.shape))
    yield [folder / "in.raw", "--dtype", raw_name(x.dtype), "--shape", shape]


def read_back(path, member=None):
    """Bytes in row-major order as a library reads them, with shape and type."""
    if path.suffix == ".npy":
        y = np.load(path, allow_pickle=False)
    elif path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as archive:
            (name,) = archive.files
            y = archive[name]
    elif path.suffix == ".safetensors":
        ((name, tensor),) = deserialize(path.read_bytes())
        return bytes(tensor["data"]), list(tensor["shape"]), tensor["dtype"]
    elif path.suffix == ".pb":
        proto = onnx.load_tensor(str(path))
        data = proto.raw_data if proto.data_type != TensorProto.STRING else list(proto.string_data)
        return data, list(proto.dims), TensorProto.DataType.Name(proto.data_type)
    else:
        return path.read_bytes(), None, None
    return y.tobytes(), list(y.shape), y.dtype.str


DTYPES = [np.dtype(name) for name in RAW_NAMES if name not in OWN_NAMES]
DTYPES += [np.dtype(getattr(ml_dtypes, name)) for name in OWN_NAMES]
DTYPES += [np.dtype(text) for text in [">f4", ">i8", ">c16", "S5", "U3", ">U3", "V7", "M8[ns]", ">m8[s]", "g"]]


def draw(rng, dtype, shape, order):
    """An array with every bit pattern that is valid."""
    raw = rng.integers(0, 256, int(np.prod(shape)) * dtype.itemsize, np.uint8)
    if dtype.kind in "?b":
        raw &= 1
    if dtype.kind == "U":  # characters that fit in one byte
        letters = raw.reshape(-1, 4)
        letters[:, 3 if dtype.str[0] == "<" else 0] = 0
        letters[:, 1:3] = 0
        letters &= 0x7F
    return np.asarray(raw.view(dtype).reshape(shape), order=order)


def check_round_trips(binary, quick):
    rng = np.random.default_rng(2)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        shapes = [((4, 5, 3), "C"), ((4, 5, 3), "F"), ((7,), "C"), ((), "C"), ((2, 0, 3), "C")]
        for turn, dtype in enumerate(DTYPES):
            for shape, order in [shapes[turn % len(shapes)]] if quick else shapes:
                round_trip(binary, folder, draw(rng, dtype, shape, order), f"{dtype} {shape} {order}")


def check_structured(binary):
    """Records of every kind that NumPy saves: the file equals what NumPy writes for the flipped array."""
    nested = np.dtype([("in", [("a", "<u2"), ("b", ">f8")]), ("c", "S3", (2, 3))])
    dtypes = {
        "plain": np.dtype([("x", "<f4"), ("y", "<i2")]),
        "padded": np.dtype([("x", "u1"), ("y", "<f8")], align=True),
        "nested": nested,
        "titled": np.dtype([(("a title", "x"), "<M8[ns]"), ("y", "?")]),
        "latin": np.dtype([("größe", "<c8")]),
        "cyrillic": np.dtype([("размер", "<U2"), ("it's", "V5")]),
        "empty": np.dtype([]),
        "long": np.dtype([(f"field_{at}", "<i4") for at in range(5000)]),
    }
    rng = np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's warning that names beyond Latin-1 need version 3
        folder = Path(folder)
        for name, dtype in dtypes.items():
            for shape, order in [((3, 4), "C"), ((3, 4), "F"), ((), "C"), ((2, 0), "C")]:
                if order == "F" and not dtype.itemsize:
                    continue  # empty elements have no byte order
                raw = rng.integers(0, 128, int(np.prod(shape)) * dtype.itemsize, np.uint8)
                x = np.ndarray(shape, dtype, raw.tobytes(), order="C").copy(order)
                np.save(folder / "x.npy", x)
                np.savez_compressed(folder / "x.npz", x=x)
                # As opaque bytes, because NumPy does not copy the padding between fields.
                opaque = x.view(f"V{dtype.itemsize}") if dtype.itemsize and x.ndim else x
                flipped = np.flip(opaque).copy(order) if x.ndim else x
                np.save(folder / "expected.npy", flipped.view(dtype))
                expected = (folder / "expected.npy").read_bytes()
                for source, target in [("x.npy", "y.npy"), ("x.npz", "y.npy"), ("x.npy", "x.npy")]:
                    run = Run(binary, "reverse", folder / source, "-o", folder / target)
                    same = run.code == 0 and (folder / target).read_bytes() == expected
                    check("files: structured", same, (name, shape, order, source, run.stderr))
                loaded = np.load(folder / "y.npy", max_header_size=1 << 20).dtype == dtype
                check("files: structured", loaded, (name, shape))


def round_trip(binary, folder, x, what):
    flipped = np.flip(x) if x.ndim else x  # for a scalar, NumPy returns native byte order
    little = flipped.astype(x.dtype.newbyteorder("<"), copy=False)
    for arguments in inputs(folder, x):
        source = Path(str(arguments[0]).split(":")[0])
        for extension in ["npy", "npz", "safetensors", "pb", "raw"]:
            # All pairs of formats for one shape; the same format and .npy for the others.
            if x.shape != (4, 5, 3) and extension not in ("npy", source.suffix[1:]):
                continue
            target = folder / f"out.{extension}"
            target.unlink(missing_ok=True)
            run = Run(binary, "reverse", *arguments, "-o", target)
            case = f"{what}: {source.name} to {extension}"
            if extension == "safetensors" and x.dtype.name not in SAFETENSORS:
                refused = run.code == 1 and "safetensors files have no" in run.stderr
                check("files: refusals", refused and not target.exists(), (case, run.stderr))
                continue
            # Raw bytes are not known to be text.
            opaque = source.suffix == ".raw" and x.dtype.kind in "SU"
            if extension == "pb" and (opaque or not has_onnx(x.dtype)):
                refused = run.code == 1 and "pb files have no" in run.stderr
                check("files: refusals", refused and not target.exists(), (case, run.stderr))
                continue
            if run.code != 0:
                check("files: exit code", False, (case, run.stderr))
                continue
            data, shape, kind = read_back(target)
            # NumPy's formats keep the byte order; the others have only one.
            plain = source.suffix in (".safetensors", ".pb", ".raw")
            keeps = extension in ("npy", "npz") and not plain
            expected = flipped if keeps else little
            wanted = strings_of(expected) if isinstance(data, list) else expected.tobytes()
            same = data == wanted and shape in (None, list(x.shape))
            check(f"files: {source.suffix[1:]} to {extension}", same, (case, shape, kind))


def check_streams(binary):
    x = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    buffer = io.BytesIO()
    np.save(buffer, x)
    run = Run(binary, "reverse", "-", "--axes", "1", "-o", "-", stdin=buffer.getvalue())
    same = run.code == 0 and np.array_equal(np.load(io.BytesIO(run.stdout)), np.flip(x, 1))
    check("files: streams", same, run.stderr)
    run = Run(binary, "reverse", "-", "--dtype", "i16", "--shape", "2,3,4", "-o", "-", "--to", "raw", stdin=x.tobytes())
    check("files: streams", run.stdout == np.flip(x).tobytes(), run.stderr)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, a=x, b=x + 1)
    run = Run(binary, "reverse", "-o", "-", "--to", "npz", "--", "-:b", stdin=buffer.getvalue())
    same = run.code == 0 and np.array_equal(np.load(io.BytesIO(run.stdout))["b"], np.flip(x + 1))
    check("files: streams", same, run.stderr)


def check_info(binary):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        x = np.asfortranarray(np.zeros((3, 4), ">f8"))
        np.savez_compressed(folder / "x.npz", x=x, y=np.zeros(2, "U3"))
        run = Run(binary, "info", folder / "x.npz", "--json")
        tensors = json.loads(run.stdout)["tensors"]
        first, second = tensors
        same = (first["name"], first["dtype"], first["shape"], first["order"]) == ("x", "f64", [3, 4], "F")
        same &= first["byte_order"] == "big" and first["bytes"] == 96 and second["numpy"] == "<U3"
        check("files: info", same and first["deflated_bytes"] > 0, tensors)
        packed = np.zeros(24, np.uint8)
        spec = TensorSpec(dtype="float4_e2m1fn_x2", shape=[2, 12], data_ptr=packed.ctypes.data, data_len=24)
        (folder / "f4.safetensors").write_bytes(serialize({"w": spec}))
        (w,) = json.loads(Run(binary, "info", folder / "f4.safetensors", "--json").stdout)["tensors"]
        check("files: info", (w["dtype"], w["elements"], w["bytes"]) == ("f4e2m1", 48, 24), w)


def check_packed(binary):
    """Four-bit floats, two to a byte, as safetensors keeps them."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        packed = np.random.default_rng(3).integers(0, 256, 24, np.uint8)
        spec = TensorSpec(dtype="float4_e2m1fn_x2", shape=[2, 12], data_ptr=packed.ctypes.data, data_len=24)
        (folder / "x.safetensors").write_bytes(serialize({"w": spec}))
        run = Run(binary, "reverse", folder / "x.safetensors", "-o", folder / "y.safetensors")
        nibbles = np.stack([packed & 15, packed >> 4], -1).reshape(-1)[::-1]
        expected = (nibbles[0::2] | nibbles[1::2] << 4).astype(np.uint8).tobytes()
        check("files: packed", run.code == 0, run.stderr)
        data, _, kind = read_back(folder / "y.safetensors")
        check("files: packed", data == expected and kind == "F4", kind)


def check_lengths(binary):
    rng = np.random.default_rng(4)
    x = rng.integers(0, 1000, (6, 4), np.int32)
    lengths = rng.integers(0, 7, 4)
    expected = x.copy()
    for column, length in enumerate(lengths):
        expected[:length, column] = x[:length, column][::-1]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        np.savez_compressed(folder / "batch.npz", x=x, lengths=lengths.astype(">i2"))
        run = Run(
            binary, "reverse-sequence", f"{folder}/batch.npz:x", "--lengths", f"{folder}/batch.npz:lengths",
            "-o", folder / "y.npy",
        )  # fmt: skip
        check("files: lengths", run.code == 0, run.stderr)
        check("files: lengths", np.array_equal(np.load(folder / "y.npy"), expected), lengths)
        for dtype, order in itertools.product(DTYPES, "CF"):
            y = draw(rng, dtype, (4, 5, 3), order)
            np.save(folder / "y.npy", y)
            counts = rng.integers(0, 6, 4)
            axes = ["--lengths", ",".join(map(str, counts)), "--time-axis=1", "--batch-axis=0"]
            run = Run(binary, "reverse-sequence", folder / "y.npy", *named(dtype), *axes, "-o", folder / "y.npy")
            found = np.load(folder / "y.npy")
            same = run.code == 0 and found.flags[f"{order}_CONTIGUOUS"]
            # NumPy reads an extension type back as raw bytes of its width.
            same &= found.tobytes() == reverse_sequence(y, counts, 1, 0).tobytes()
            check("files: lengths, every type", bool(same), (dtype, order, run.stderr))
        for how in [[], ["=direct"], ["=copy"]]:
            np.save(folder / "z.npy", x)
            option = "--in-place" + "".join(how)
            run = Run(binary, "reverse-sequence", folder / "z.npy", "--lengths", ",".join(map(str, lengths)), option)
            check("files: in place", run.code == 0, run.stderr)
            check("files: in place", np.array_equal(np.load(folder / "z.npy"), expected), option)


# --- Files with false headers ------------------------------------------------------------


def npy_bytes(descr, shape, data=b"", version=1, length=None):
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    size = struct.pack("<H" if version == 1 else "<I", len(text) if length is None else length)
    return b"\x93NUMPY" + bytes([version, 0]) + size + text + data


def safetensors_bytes(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def field_head(number, length):
    """Key and length of a field of bytes."""
    return bytes([number << 3 | 2]) + varint(length)


def zip_bytes(members, method=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return buffer.getvalue()


def patched(archive, field, value, stored=False):
    """The archive with one field of its only local and central header changed."""
    offsets = {"crc": (14, 16), "packed": (18, 20), "size": (22, 24)}[field]
    central = archive.rfind(b"PK\x01\x02")
    archive = bytearray(archive)
    for place in (offsets[0], central + offsets[1]):
        archive[place : place + 4] = struct.pack("<I", value)
    return bytes(archive)


def bomb():
    """A member that claims to be an array of 12 bytes and inflates to a gigabyte."""
    small = npy_bytes("'<f4'", "(3,)", bytes(12))
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = packer.compress(small)
    for _ in range(64):
        data += packer.compress(bytes(16 << 20))
    data += packer.flush()
    name = b"x.npy"
    local = struct.pack("<4s5H3I2H", b"PK\x03\x04", 20, 0, 8, 0, 0, 0, len(data), len(small), len(name), 0) + name
    central = struct.pack(
        "<4s6H3I5H2I", b"PK\x01\x02", 20, 20, 0, 8, 0, 0, 0, len(data), len(small), len(name), 0, 0, 0, 0, 0, 0
    ) + name  # fmt: skip
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1, 1, len(central), len(local) + len(data), 0)
    return local + data + central + end


def hostile():
    """(file name, content, the expected error)."""
    plain = npy_bytes("'<f4'", "(3,)", bytes(12))
    entry = {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]}
    huge = {"dtype": "U8", "shape": [2**61 - 1], "data_offsets": [0, 2**61 - 1]}
    deflated, stored = zip_bytes([("x.npy", plain)]), zip_bytes([("x.npy", plain)], zipfile.ZIP_STORED)
    zeros = npy_bytes("'|u1'", "(4294967295,)", bytes(1 << 20))

    def pb(kind="FLOAT", **fields):
        return TensorProto(data_type=TensorProto.DataType.Value(kind), **fields).SerializeToString()

    away = onnx.StringStringEntryProto(key="location", value="../secret")
    words = [b""] * (1 << 17) + [b"a" * (1 << 14)]
    return [
        ("claims.npy", npy_bytes("'<f8'", "(1099511627776, 1024)"), "takes 9007199254740992 bytes but the file has 0"),
        ("overflow.npy", npy_bytes("'<f8'", "(4294967296, 4294967296)"), "impossible shape"),
        ("wide.npy", npy_bytes("'<U4611686018427387904'", "(1,)"), "unknown dtype"),
        ("header.npy", npy_bytes("'<f8'", "()", version=2, length=2**32 - 1), "the header says it has 4294967295 bytes"),
        ("cut.npy", npy_bytes("'<f8'", "()", length=60000), "the file is cut short: its header should have 60000 bytes"),
        ("sizes.npy", npy_bytes("'<f8'", "(" + "9," * 300000 + ")", version=2), "impossible shape"),
        ("digits.npy", npy_bytes("'<f8'", "(" + "9" * 100000 + ",)", version=2), "more than the 18446744073709551615"),
        ("version.npy", b"\x93NUMPY\x09\x00" + bytes(64), ".npy version 9.0 is unknown"),
        ("object.npy", npy_bytes("'|O'", "(1,)", b"cos\nsystem\n"), "pickled Python objects"),
        ("fields.npy", npy_bytes("[('a', '|O')]", "(3,)", bytes(24)), "pickled Python objects"),
        ("deep.npy", npy_bytes("[('a', " * 5000 + "'<f4'" + ")]" * 5000, "(3,)", bytes(12), version=2), "nested more than 32 deep"),
        ("fat.npy", npy_bytes("[('a', '<f4', (4611686018427387904, 4))]", "(3,)"), "more bytes than can be addressed"),
        ("bomb.npz", bomb(), "File is larger than its declared uncompressed size"),
        ("says.npz", patched(deflated, "size", 2**32 - 2), "which cannot be deflated in"),
        ("larger.npz", patched(zip_bytes([("x.npy", zeros)]), "size", len(zeros) + 1), "takes 4294967295 bytes but"),
        ("stored.npz", patched(stored, "size", 2**31), "it says that it has 2147483648 bytes, stored in"),
        ("crc.npz", patched(stored, "crc", 1), "Invalid checksum"),
        ("crc2.npz", patched(deflated, "crc", 1), "Invalid checksum"),
        ("outside.npz", zip_bytes([("x.npy", npy_bytes("'<f8'", "(1099511627776,)"))]), "takes 8796093022208 bytes but"),
        ("none.npz", zip_bytes([("x.txt", b"no array")]), "it holds no tensor"),
        ("several.npz", zip_bytes([("../../a.npy", plain), ("/etc/b.npy", plain)]), 'name one of "../../a", "/etc/b" as FILE:NAME'),
        ("garbage.npz", b"PK\x03\x04" + bytes(1000), "not a readable .npz archive"),
        ("nested.npz", zip_bytes([("x.npy", deflated)]), 'member "x.npy": not a .npy file'),
        ("length.safetensors", safetensors_bytes({}, length=2**63), "the header says it has 9223372036854775808 bytes"),
        ("cut.safetensors", safetensors_bytes({}, length=5000), "the file is cut short"),
        ("json.safetensors", safetensors_bytes(b"{" * 100000), "malformed header"),
        ("deep.safetensors", safetensors_bytes(b'{"x":' * 100000), "malformed header"),
        ("array.safetensors", safetensors_bytes(b"[]"), "malformed header"),
        ("outside.safetensors", safetensors_bytes({"x": entry}, bytes(11)), "its data_offsets are [0, 12] but the file has 11"),
        ("after.safetensors", safetensors_bytes({"x": entry}, bytes(13)), "1 byte follows the last tensor"),
        ("overlap.safetensors", safetensors_bytes({"x": entry, "y": entry}, bytes(12)), "its data starts at 0, expected 12"),
        ("gap.safetensors", safetensors_bytes({"x": {**entry, "data_offsets": [4, 16]}}, bytes(16)), "expected 0"),
        ("size.safetensors", safetensors_bytes({"x": {**entry, "shape": [4]}}, bytes(12)), "takes 16 bytes"),
        ("huge.safetensors", safetensors_bytes({f"t{i}": {**huge, "data_offsets": [i * (2**61 - 1), (i + 1) * (2**61 - 1)]} for i in range(8)}), "bytes of data"),
        ("dims.safetensors", safetensors_bytes({"x": {**entry, "shape": [2**33, 2**33]}}, bytes(12)), "impossible shape"),
        ("type.safetensors", safetensors_bytes({"x": {**entry, "dtype": "F6_E2M3"}}, bytes(12)), 'has dtype "F6_E2M3", which is not supported'),
        ("many.safetensors", safetensors_bytes(b"{" + b",".join(b'"%d":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}' % i for i in range(20000)) + b"}"), "it holds several tensors"),
        ("claims.pb", pb(dims=[1 << 40], raw_data=b"1234"), "takes 4398046511104 bytes but the buffer has 4"),
        ("typed.pb", pb(dims=[4], float_data=[1.0]), "takes 4 entries of float_data but there are 1"),
        ("overflow.pb", pb(dims=[1 << 62, 1 << 62]), "needs more than"),
        ("negative.pb", pb(dims=[-1], float_data=[1.0]), "axis 0 has the negative size -1"),
        ("length.pb", b"\x4a\xff\xff\xff\xff\x0f", "not a TensorProto"),
        ("outside.pb", pb(dims=[2], data_location=1, external_data=[away]), "it contains `..`"),
        ("strings.pb", pb("STRING", dims=[1 << 50]), "takes 1125899906842624 entries"),
        ("wide.pb", pb("STRING", dims=[len(words)], string_data=words), "each as wide as the longest, take over"),
        ("zero.pb", pb("STRING", dims=[1], string_data=[b"a\0"]), "string 0 ends in a zero byte"),
        ("empty.pb", b"", "element type 0 is not supported"),
        ("many.pb", pb("STRING", dims=[5]) + b"\x32\0" * (8 << 20), "takes 5 entries of string_data but there are 8388608"),
        ("numbers.pb", pb("UINT8", dims=[5]) + b"\x28\1" * (8 << 20), "takes 5 entries of int32_data but there are 8388608"),
        ("axes.pb", pb("UINT8") + field_head(1, 32 << 20) + b"\1" * (32 << 20), "it has 33554432 axes"),
        ("name.pb", pb() + field_head(8, 64 << 20) + b"a" * (64 << 20), "its name has 67108864 bytes"),
        ("number.pb", pb("UINT8", dims=[1]) + b"\x2a\x0b" + b"\x80" * 10 + b"\1", "invalid varint"),
        ("cut.pb", pb("UINT8", dims=[1]) + b"\x2a\1\x80", "field 5 ends inside a number"),
        ("empty.npy", b"", "it begins with nothing"),
        ("empty.npz", b"", "not a readable .npz archive"),
        ("empty.safetensors", b"", "it has 0 bytes"),
    ]  # fmt: skip


def check_hostile(binary):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name, content, says in hostile():
            (folder / name).write_bytes(content)
        before = sorted(os.listdir(folder))
        for name, content, says in hostile():
            run = Run(binary, "reverse", name, "-o", "out.npy", cwd=folder, memory=MOST_MEMORY)
            lines = run.stderr.splitlines()
            clear = run.code == 1 and len(lines) == 1 and lines[0].startswith("error: ") and says in lines[0]
            check("files: hostile, in little memory", clear, (name, run.code, run.stderr[:300]))
            check("files: hostile, nothing left", sorted(os.listdir(folder)) == before, name)
        # A name that leads out of the archive can be read, but not written to another.
        run = Run(binary, "reverse", "several.npz:../../a", "-o", "out.npz", cwd=folder)
        check("files: hostile, in little memory", '"../../a" is not a valid tensor name' in run.stderr, run.stderr)
        check("files: hostile, nothing left", sorted(os.listdir(folder)) == before, "traversal")


# --- Limits ------------------------------------------------------------------------------


def write_typed(path, x):
    """int8 in one packed int32_data, in which a negative number takes ten bytes."""
    start = onnx.TensorProto(dims=x.shape, data_type=TensorProto.INT8).SerializeToString()
    with open(path, "wb") as out:
        out.write(start + field_head(5, int(x.size + 9 * (x < 0).sum())))
        for part in np.array_split(x, 64):
            negative = np.flatnonzero(part < 0)
            wide = np.insert(part.view(np.uint8), np.repeat(negative + 1, 9), np.tile([255] * 8 + [1], negative.size))
            out.write(wide.astype(np.uint8).tobytes())


def write_letters(path, x):
    """Strings of one byte each."""
    fields = np.empty((x.size, 3), np.uint8)
    fields[:, 0], fields[:, 1], fields[:, 2] = 6 << 3 | 2, 1, x
    start = onnx.TensorProto(dims=x.shape, data_type=TensorProto.STRING).SerializeToString()
    path.write_bytes(start + fields.tobytes())


def check_memory(binary):
    """A file larger than the command's memory limit, in every shape."""
    limit, shape = 256 << 20, (4096, 17408)
    rng = np.random.default_rng(5)
    x = rng.integers(-(2**31), 2**31, shape, np.int32)
    per_column, per_row = rng.integers(0, shape[0] + 1, shape[1]), rng.integers(0, shape[1] + 1, shape[0])
    by_column = np.arange(shape[0])[:, None]
    by_column = np.where(by_column < per_column, per_column - 1 - by_column, by_column)
    by_row = np.arange(shape[1])[None, :]
    by_row = np.where(by_row < per_row[:, None], per_row[:, None] - 1 - by_row, by_row)
    columns, rows = np.take_along_axis(x, by_column, 0), np.take_along_axis(x, by_row, 1)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        np.save(folder / "x.npy", x)
        np.save(folder / "f.npy", np.asfortranarray(x))
        np.save(folder / "big.npy", x.astype(">i4"))
        np.savez(folder / "x.npz", x)
        with zipfile.ZipFile(folder / "d.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.write(folder / "x.npy", "x.npy")
        (folder / "x.pb").write_bytes(pb_bytes(x))
        # Typed fields: packed numbers of up to ten bytes, and more strings than memory has room for
        # handles.
        small = rng.integers(-2, 126, shape[0] * 20000, np.int8)
        write_typed(folder / "typed.pb", small)
        many = 17 << 20
        letters = rng.integers(97, 123, many, np.uint8)
        write_letters(folder / "letters.pb", letters)
        as_text = letters.astype("<u4").view("<U1")
        np.save(folder / "columns.npy", per_column.astype(">i4"))
        np.save(folder / "rows.npy", per_row)
        sequence = ["--lengths", folder / "columns.npy"]
        batch = ["--lengths", folder / "rows.npy", "--time-axis=1", "--batch-axis=0"]
        cases = [
            ("reverse", "x.npy", ["--axes=0"], "y.npy", x[::-1]),
            ("reverse", "x.npy", ["--axes=1"], "y.safetensors", x[:, ::-1]),
            ("reverse", "f.npy", ["--axes=0"], "y.raw", x[::-1]),
            ("reverse", "big.npy", [], "y.raw", x[::-1, ::-1]),
            ("reverse", "x.npz", [], "y.npy", x[::-1, ::-1]),
            ("reverse", "d.npz", [], "y.npz", x[::-1, ::-1]),
            ("reverse", "x.pb", [], "y.pb", x[::-1, ::-1]),
            ("reverse-sequence", "x.pb", sequence, "y.npy", columns),
            ("reverse-sequence", "x.npy", sequence, "y.npy", columns),
            ("reverse-sequence", "x.npy", batch, "y.npy", rows),
            ("reverse-subsequences", "x.npy", ["--axis=0", *sequence], "y.raw", columns),
            ("reverse-subsequences", "x.npy", ["--axis=1", *batch[:2]], "y.raw", rows),
        ]
        for operator, source, arguments, target, expected in cases:
            run = Run(binary, operator, folder / source, *arguments, "-o", folder / target, memory=limit)
            case = (operator, source, target, arguments[:1])
            check("files: large, in 256 MiB", run.code == 0, (case, run.stderr))
            if run.code == 0:
                if target == "y.npz":
                    data = np.load(folder / target)["x"]
                else:
                    data = np.frombuffer((folder / target).read_bytes()[-x.nbytes :], np.int32)
                check("files: large, same", np.array_equal(data.reshape(shape), expected), case)
            (folder / target).unlink(missing_ok=True)
        for source, target, expected in [
            ("typed.pb", "y.pb", small[::-1]),
            ("typed.pb", "y.npy", small[::-1]),
            ("letters.pb", "y.npy", as_text[::-1]),
            ("letters.pb", "y.pb", letters[::-1]),
        ]:
            run = Run(binary, "reverse", folder / source, "-o", folder / target, memory=limit)
            check("files: large, in 256 MiB", run.code == 0, (source, target, run.stderr))
            if run.code == 0 and source == "letters.pb" and target == "y.pb":
                end = np.frombuffer((folder / target).read_bytes()[-3 * many :], np.uint8).reshape(-1, 3)
                same = np.array_equal(end[:, 2], expected) and (end[:, :2] == [0x32, 1]).all()
            elif run.code == 0:
                same = (folder / target).read_bytes()[-expected.nbytes :] == expected.tobytes()
            check("files: large, same", run.code == 0 and same, (source, target))
            (folder / target).unlink(missing_ok=True)
        (folder / "letters.pb").unlink()
        for source in ["x.npy", "-"]:
            stdin = (folder / "x.npy").read_bytes() if source == "-" else b""
            source = source if source == "-" else folder / source
            run = Run(binary, "reverse", source, "-o", "-", "--to", "raw", stdin=stdin, memory=limit)
            check("files: large, in 256 MiB", run.stdout == x[::-1, ::-1].tobytes(), run.stderr)
        node = helper.make_node("ReverseSequence", ["x", "lens"], ["y"], time_axis=0, batch_axis=1)
        declare = helper.make_tensor_value_info
        graph = helper.make_graph(
            [node], "g", [declare("x", TensorProto.INT32, ["T", "B"]), declare("lens", TensorProto.INT64, ["B"])],
            [declare("y", TensorProto.INT32, ["T", "B"])],
        )  # fmt: skip
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 10)], ir_version=8)
        (folder / "m.onnx").write_bytes(model.SerializeToString())
        np.save(folder / "lens.npy", per_column)
        arguments = ["-i", f"x={folder}/x.npy", "-i", f"lens={folder}/lens.npy", "--output", folder / "y.npy"]
        run = Run(binary, "run", folder / "m.onnx", *arguments, memory=limit)
        check("files: large, in 256 MiB", run.code == 0, run.stderr)
        check("files: large, same", run.code == 0 and np.array_equal(np.load(folder / "y.npy"), columns), "a model")
        run = Run(binary, "reverse", folder / "x.npy", "--in-place=direct", memory=limit)
        check("files: large, in 256 MiB", np.array_equal(np.load(folder / "x.npy"), x[::-1, ::-1]), run.stderr)


def check_full_disk(binary):
    """A file system of one megabyte, in a separate mount namespace if that is allowed."""
    script = """
        mount -t tmpfs -o size=1m none "$1" || exit 99
        cp "$2" "$1/old.npy"
        for out in new.npy new.npz new.safetensors old.npy; do
            "$3" reverse "$4" -o "$1/$out" 2>&1 && exit 1
        done
        cmp "$2" "$1/old.npy" && ls -A "$1"
    """
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "disk").mkdir()
        np.save(folder / "small.npy", np.zeros(10))
        np.save(folder / "large.npy", np.zeros((64 << 20) // 8 + 1))
        run = deadline.run(
            ["unshare", "-rm", "sh", "-c", script, "sh", folder / "disk", folder / "small.npy", binary, folder / "large.npy"],
        )  # fmt: skip
        if run.returncode == 99 or "unshare" in run.stderr:
            print("skipped: full disk (cannot create a mount namespace)")
            return
        lines = run.stdout.splitlines()
        errors = [line for line in lines if line.startswith("error: cannot write ")]
        clear = len(errors) == 4 and all(line.endswith("No space left on device") for line in errors)
        check("files: full disk", clear, run.stdout + run.stderr)
        check("files: full disk, nothing left", lines[4:] == ["old.npy"], run.stdout)


def main():
    quick = sys.argv[2:] == ["quick"]
    if len(sys.argv) != 2 + quick:
        sys.exit(__doc__)
    binary = Path(sys.argv[1]).resolve()
    check_round_trips(binary, quick)
    check_structured(binary)
    check_streams(binary)
    check_info(binary)
    check_packed(binary)
    check_lengths(binary)
    check_hostile(binary)
    if not quick:
        check_memory(binary)
    check_full_disk(binary)
    return summary("files")


if __name__ == "__main__":
    sys.exit(main())
