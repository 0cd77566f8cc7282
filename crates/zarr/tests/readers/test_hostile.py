"""Chunks and servers that lie: one line of an error, in bounded memory, and no file outside the output."""

import gzip
import http.server
import json
import struct
import threading
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr
from conftest import run, start
from zarr.codecs import GzipCodec, ZstdCodec

LIMIT = 64 << 20


def peak_of_failure(*words):
    """The most resident memory of a run that must fail, in bytes, and what it printed."""
    process, most = start(*words), 0
    while process.poll() is None:
        try:
            lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        except OSError:
            break
        most = max([most, *(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))])
        time.sleep(0.001)
    _, err = process.communicate()
    assert process.returncode == 1, (process.returncode, err)
    return most * 1024, err


def array(codec):
    zarr.create_array("in.zarr/deep/x", shape=(1024,), chunks=(512,), dtype="u1", zarr_format=3, compressors=codec)[...] = 1
    return Path("in.zarr/deep/x/c/1")


def test_a_frame_of_16_bytes_that_claims_terabytes(folder):
    array(ZstdCodec()).write_bytes(b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 1 << 45) + b"\1\0\0")
    used, error = peak_of_failure("reverse", "in.zarr:deep/x", "--memory", "64M", "-o", "out.zarr")
    assert "in.zarr/deep/x/c/1: chunk [1]: decodes to more than 512 bytes" in error and error.count("\n") == 1
    assert used <= LIMIT and not Path("out.zarr").exists() and not Path(".out.zarr.retrograde").exists()


def test_a_bomb_of_gzip(folder):
    bomb = gzip.compress(bytes(1 << 30), 1)
    array(GzipCodec()).write_bytes(bomb[: 1 << 20])
    used, error = peak_of_failure("reverse", "in.zarr:deep/x", "--memory", "64M", "-o", "out.zarr")
    assert "chunk [1]: has 1048576 bytes, at most" in error and used <= LIMIT
    # As large as a chunk may be: the whole bomb fits, and is not inflated.
    zarr.create_array("large.zarr", shape=(16 << 20,), chunks=(8 << 20,), dtype="u1", zarr_format=3, compressors=GzipCodec())[...] = 1
    Path("large.zarr/c/1").write_bytes(bomb)
    assert 4 << 20 < len(bomb) < 8 << 20
    used, error = peak_of_failure("reverse", "large.zarr", "--memory", "64M", "-o", "out.zarr")
    assert "large.zarr/c/1: chunk [1]: decodes to more than 8388608 bytes" in error and used <= LIMIT


def test_a_bomb_in_a_chunk_of_hdf5(folder):
    with h5py.File("in.h5", "w") as file:
        dataset = file.create_dataset("x", shape=(1024,), chunks=(512,), dtype="u1", compression="gzip")
        dataset[...] = 1
        import zlib

        dataset.id.write_direct_chunk((512,), zlib.compress(bytes(256 << 20), 1))
    used, error = peak_of_failure("reverse", "in.h5:x", "--memory", "64M", "-o", "out.zarr")
    assert "in.h5:x: chunk [1]: has " in error and used <= LIMIT, error
    with h5py.File("small.h5", "w") as file:
        dataset = file.create_dataset("x", shape=(1024,), chunks=(512,), dtype="u1", compression="gzip")
        dataset[...] = 1
        dataset.id.write_direct_chunk((512,), zlib.compress(bytes(100_000), 9))
    assert "small.h5:x: chunk [1]: decodes to more than 516 bytes" in run("reverse", "small.h5:x", "-o", "out.zarr", code=1)


class Evil(http.server.BaseHTTPRequestHandler):
    """Serves the same metadata and chunk under every name."""

    files = {}

    def log_message(self, *_):
        pass

    def do_GET(self):
        content = next((content for end, content in self.files.items() if self.path.endswith(end)), None)
        self.send_response(200 if content is not None else 404)
        self.send_header("Content-Length", str(self.claimed or len(content or b"")))
        self.end_headers()
        if self.command == "GET" and content:
            self.wfile.write(content)

    do_HEAD = do_GET
    claimed = None


@pytest.fixture
def evil():
    kind = type("Here", (Evil,), {"files": {}})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), kind)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server.kind, server.url = kind, f"http://127.0.0.1:{server.server_port}/deep/in.zarr"
    yield server
    server.shutdown()


@pytest.mark.parametrize("key", ["a\\..\\..\\x", "C:\\x", "C:x", "..", "a/../../x", "/x", "a//x", "a\nb"])
@pytest.mark.parametrize("version", [2, 3])
def test_names_that_lead_out_of_the_folder(folder, evil, version, key):
    array = {"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "|u1", "compressor": None, "fill_value": 0, "order": "C", "filters": None}
    if version == 2:
        evil.kind.files = {"/.zmetadata": json.dumps({"metadata": {".zgroup": {"zarr_format": 2}, f"{key}/.zarray": array}}).encode(), "/.zgroup": b'{"zarr_format": 2}'}
    else:
        group = {"zarr_format": 3, "node_type": "group", "consolidated_metadata": {"kind": "inline", "must_understand": False, "metadata": {key: {}}}}
        evil.kind.files = {"/zarr.json": json.dumps(group).encode()}
    error = run("reverse", evil.url, "-o", "out.zarr", code=1)
    assert "the store has the key" in error and "Error" not in error, error
    assert [path.name for path in folder.iterdir()] == []


def test_a_server_that_claims_terabytes(folder, evil):
    evil.kind.files = {"/zarr.json": b"{}"}
    evil.kind.claimed = 1 << 45
    used, error = peak_of_failure("reverse", evil.url, "--memory", "64M", "-o", "out.zarr")
    assert "zarr.json: has 35184372088832 bytes, at most 67108864" in error and used <= LIMIT, error


def test_a_chunk_of_a_server_that_is_too_large(folder, evil):
    zarr.create_array("in.zarr", shape=(8,), chunks=(8,), dtype="u1", zarr_format=3, compressors=GzipCodec())[...] = np.arange(8)
    evil.kind.files = {"/zarr.json": Path("in.zarr/zarr.json").read_bytes(), "/c/0": bytes(8 << 20)}
    error = run("reverse", evil.url, "-o", "out.zarr", code=1)
    assert "/deep/in.zarr/c/0: chunk [0]: has 8388608 bytes, at most" in error, error
