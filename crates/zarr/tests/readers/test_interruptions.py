"""The command is killed at random points and run again: the store is identical to that of one run. And memory."""

import os
import random
import shutil
import signal
import time
from pathlib import Path

import numpy as np
import pytest
import tensorstore
import zarr
from conftest import run, start, tree
from zarr.codecs import BytesCodec, ShardingCodec, ZstdCodec

KILLS = 20


def large(path, shape, chunks, **options):
    array = zarr.create_array(path, shape=shape, chunks=chunks, dtype="f4", zarr_format=3, **options)
    rng = np.random.default_rng(0)
    for row in range(0, shape[0], chunks[0]):
        part = array[row : row + chunks[0]].shape
        array[row : row + chunks[0]] = rng.integers(0, 1000, part, dtype="i4").astype("f4")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["kill -9", "Ctrl-C"])
@pytest.mark.parametrize("codec", ["plain", "zstd"])
def test_killed_at_random_points(folder, codec, how):
    compressors = None if codec == "plain" else ZstdCodec(level=1)
    large("in.zarr", (1001, 400), (20, 50), compressors=compressors)
    words = ["reverse", "in.zarr", "--threads", "2", "-o"]
    began = time.perf_counter()
    run(*words, "whole.zarr")
    took = time.perf_counter() - began
    expected = tree("whole.zarr")
    rng = random.Random(1)
    kills = resumed = rounds = 0
    while kills < KILLS:
        rounds += 1
        assert rounds < 20 * KILLS, f"only {kills} of {rounds} runs were interrupted"
        process = start(*words, "out.zarr")
        time.sleep(rng.uniform(0, took))
        process.send_signal(how)
        _, err = process.communicate(timeout=60)
        if process.returncode in (-how, 130):
            kills += 1
            if (folder / "out.zarr").exists():
                # It had its name already. The next run finds it complete, or refuses to replace it.
                assert how == signal.SIGKILL and tree("out.zarr") == expected
                again = start(*words, "out.zarr")
                _, err = again.communicate(timeout=60)
                assert (again.returncode, "exists already" in err) in [(0, False), (1, True)], err
                assert not (folder / ".out.zarr.retrograde").exists()
                shutil.rmtree("out.zarr")
            continue
        # It had completed before the signal came: compare, and begin again.
        assert process.returncode == 0, err
        resumed += "complete from an earlier run" in err
        assert tree("out.zarr") == expected
        assert sorted(path.name for path in folder.iterdir()) == ["in.zarr", "out.zarr", "whole.zarr"]
        shutil.rmtree("out.zarr")
    last = run(*words, "out.zarr") if not (folder / "out.zarr").exists() else ""
    assert tree("out.zarr") == expected
    assert resumed or "complete from an earlier run" in last
    print(f"{codec}: {kills} interruptions in {rounds} runs of {took:.2f} s")


def test_two_processes_do_not_write_the_same_output(folder):
    large("in.zarr", (4000, 1000), (10, 1000), compressors=ZstdCodec(level=9))
    first = start("reverse", "in.zarr", "-o", "out.zarr")
    while not (folder / ".out.zarr.retrograde/job.json").exists() and first.poll() is None:
        time.sleep(0.005)
    if first.poll() is None:
        error = run("reverse", "in.zarr", "-o", "out.zarr", code=1)
        assert "another process is writing" in error
    first.communicate(timeout=60)
    assert first.returncode == 0 and (folder / "out.zarr").exists()


def peak(*words):
    """The most resident memory of a run in bytes.

    From `/proc`, again and again: what `wait4` tells includes the memory of this process, before the
    program replaces its copy.
    """
    process, most = start(*words), 0
    while process.poll() is None:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        most = max([most, *(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))])
        time.sleep(0.002)
    process.communicate()
    assert process.returncode == 0 and most > 0
    return most * 1024


@pytest.mark.parametrize("codec", ["plain", "zstd", "shards"])
def test_memory(folder, codec):
    """The array is eight times the limit."""
    limit = 128 << 20
    options = {"plain": {"compressors": None}, "zstd": {"compressors": ZstdCodec(level=1)}, "shards": {"shards": (256, 4096), "compressors": ZstdCodec(level=1)}}
    shape, chunks = (8 * limit // 4 // 4096 - 100, 4096), (256, 1024)
    large("in.zarr", shape, chunks, **options[codec])
    used = peak("reverse", "in.zarr", "--memory", "128M", "-o", "out.zarr")
    print(f"{codec}: {used / 2**20:.0f} MiB of {limit / 2**20:.0f}, array {shape[0] * shape[1] * 4 / 2**20:.0f} MiB")
    assert used <= limit
    source, out = zarr.open_array("in.zarr", mode="r"), zarr.open_array("out.zarr", mode="r")
    assert (out[:256] == source[-256:][::-1, ::-1]).all()


@pytest.mark.parametrize("place", ["start", "end"])
@pytest.mark.parametrize("codec", ["plain", "zstd"])
def test_shards_that_do_not_fit(folder, codec, place):
    """A shard is larger than the limit: inner chunks are read and written one by one, with the same result."""
    shape, chunks, shards = (3000, 4100), (100, 500), (2000, 4000)
    compressors = None if codec == "plain" else ZstdCodec(level=1)
    layout = {"serializer": ShardingCodec(chunk_shape=chunks, codecs=[BytesCodec(), *([compressors] if compressors else [])], index_location=place)}
    large("in.zarr", shape, shards, compressors=None, **layout)
    zarr.open_array("in.zarr", mode="r+")[:100, :500] = 0
    words = ["reverse", "in.zarr", "--axes", "0"]
    assert "--memory" in run(*words, "--memory", "24M", "-o", "out.zarr", code=1)
    used = peak(*words, "--memory", "30M", "-o", "out.zarr")
    assert used <= 30 << 20
    source, out = zarr.open_array("in.zarr", mode="r"), zarr.open_array("out.zarr", mode="r")
    assert (out[...] == source[...][::-1]).all()
    run(*words, "-o", "whole.zarr")
    assert (zarr.open_array("whole.zarr", mode="r")[...] == out[...]).all()
    # As the definition of the format says, by another reader.
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(folder / "out.zarr")}}
    assert (tensorstore.open(spec).result().read().result() == out[...]).all()
    # Killed and run again, the bytes are the same.
    expected, rng = tree("out.zarr"), random.Random(3)
    for _ in range(6):
        process = start(*words, "--memory", "30M", "--threads", "1", "-o", "again.zarr")
        time.sleep(rng.uniform(0, 0.5))
        process.kill()
        process.communicate()
    if not (folder / "again.zarr").exists():
        run(*words, "--memory", "30M", "-o", "again.zarr")
    assert tree("again.zarr") == expected
    # A table that was damaged is an error that names the shard.
    path = folder / "in.zarr/c/1/0"
    content = bytearray(path.read_bytes())
    content[3 if place == "start" else -20] ^= 1
    path.write_bytes(content)
    error = run(*words, "--memory", "30M", "-o", "bad.zarr", code=1)
    assert "in.zarr/c/1/0: chunk [1, 0]" in error and "checksum" in error
    assert not (folder / "bad.zarr").exists() and not (folder / ".bad.zarr.retrograde").exists()


@pytest.mark.parametrize("how, code", [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)], ids=["TERM", "INT", "HUP"])
def test_exit_codes_of_signals(folder, how, code):
    large("in.zarr", (4000, 1000), (10, 1000), compressors=ZstdCodec(level=9))
    # Signals that this process ignores, as under nohup, are not ignored by the command.
    heard = lambda: signal.signal(how, signal.SIG_DFL)
    for attempt in range(20):
        process = start("reverse", "in.zarr", "--threads", "1", "-o", f"{attempt}.zarr", preexec_fn=heard)
        while not (folder / f".{attempt}.zarr.retrograde/job.json").exists() and process.poll() is None:
            time.sleep(0.002)
        process.send_signal(how)
        _, err = process.communicate(timeout=60)
        if process.returncode != 0:
            break
    assert process.returncode == code, err
    assert "interrupted: " in err and "the same command goes on from here" in err


def interrupted(folder, words):
    """Stops a run in the middle. On a busy machine it may be done before the signal comes: then again."""
    for _ in range(20):
        process = start(*words)
        while process.poll() is None and len(list(folder.glob(".out.*.retrograde/store/c/*/*"))) < 40:
            time.sleep(0.002)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        if process.returncode != 0:
            break
        shutil.rmtree(folder / "out.zarr")
    assert process.returncode == 130


def inputs_of(folder):
    """The input chunk of an output chunk that is complete, and the output chunk."""
    done = sorted((folder / ".out.zarr.retrograde/store/c").glob("*/*"))[0]
    rows, columns = 400, 1
    at = int(done.parent.name), int(done.name)
    return folder / f"in.zarr/c/{rows - 1 - at[0]}/{columns - 1 - at[1]}"


@pytest.mark.parametrize("what", ["removed", "restored time", "older", "moved"])
@pytest.mark.parametrize("codec", ["plain", "zstd"])
def test_inputs_that_change_between_two_runs(folder, codec, what):
    large("in.zarr", (4000, 1000), (10, 1000), compressors=None if codec == "plain" else ZstdCodec(level=9))
    words = ["reverse", "in.zarr", "--threads", "1", "-o", "out.zarr"]
    interrupted(folder, words)
    chunk, other = inputs_of(folder), folder / "in.zarr/c/5/0"
    new = folder / "new"
    if what == "removed":
        chunk.unlink()
    else:
        times = chunk.stat()
        shutil.copy2(other, new) if what == "older" else shutil.copy(other, new)
        if what == "older":
            os.utime(new, (1e9, 1e9))
        if what == "restored time":
            os.utime(new, ns=(times.st_atime_ns, times.st_mtime_ns))
        os.replace(new, chunk)
    assert "complete from an earlier run" in run(*words)
    run("reverse", "in.zarr", "-o", "whole.zarr")
    assert tree("out.zarr") == tree("whole.zarr")


def test_npy_outputs_notice_too(folder):
    large("in.zarr", (4000, 1000), (10, 1000), compressors=ZstdCodec(level=9))
    words = ["reverse", "in.zarr", "--threads", "1", "-o", "out.npy"]
    process = start(*words)
    journal = folder / ".out.npy.retrograde/done/0"
    while process.poll() is None and not (journal.exists() and journal.stat().st_size > 200):
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    chunk = folder / "in.zarr/c/399/0"
    chunk.unlink()
    assert "complete from an earlier run" in run(*words)
    assert (np.load("out.npy") == zarr.open_array("in.zarr", mode="r")[...][::-1, ::-1]).all()
