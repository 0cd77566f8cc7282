"""Stores on a server of S3: the same results as in folders, whatever the server does, and whenever the command is killed."""

import random
import signal
import time
from pathlib import Path

import numpy as np
import pytest
import servers
import tensorstore
import xarray
import zarr
from conftest import run, start, tree
from test_interruptions import large, peak
from test_readers import CODECS_3, same, values

KILLS = 10


@pytest.fixture(scope="module")
def s3():
    with servers.moto() as url:
        yield url


@pytest.fixture
def bucket(s3, folder, monkeypatch, request):
    for name, value in servers.SETTINGS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3)
    bucket.count = getattr(bucket, "count", 0) + 1
    return servers.Bucket(s3, f"bucket-{bucket.count}")


def array(path, codec="gzip+crc32c", shape=(25, 18), chunks=(4, 5), version=3, **options):
    data = values(shape, "f4")
    codecs = CODECS_3[codec] if version == 3 else {"compressors": None}
    zarr.create_array(path, shape=shape, chunks=chunks, dtype="f4", zarr_format=version, **codecs, **options)[...] = data
    return data


@pytest.mark.parametrize("kind", ["plain", "coded", "shards", "version 2"])
def test_from_and_to_a_bucket(bucket, kind):
    options = {"plain": {"codec": "plain"}, "coded": {}, "shards": {"shards": (8, 10)}, "version 2": {"version": 2}}
    array("in.zarr", **options[kind])
    bucket.upload("in.zarr", "deep/in.zarr")
    run("reverse", "in.zarr", "-o", "expected.zarr")
    expected = tree("expected.zarr")
    assert "chunks" in run("reverse", bucket.at("deep/in.zarr"), "-o", "out.zarr")
    assert tree("out.zarr") == expected
    run("reverse", "in.zarr", "-o", bucket.at("up.zarr"))
    assert bucket.tree("up.zarr") == expected
    run("reverse", bucket.at("deep/in.zarr"), "-o", bucket.at("deep/out.zarr"))
    assert bucket.tree("deep/out.zarr") == expected
    # Nothing else is left.
    assert [key for key in bucket.keys() if "retrograde" in key] == []
    assert f"chunks of [{'8, 10' if kind == 'shards' else '4, 5'}]" in run("info", bucket.at("deep/out.zarr"))


def test_groups_are_read_back_by_others(bucket, s3):
    data = xarray.Dataset({"t": (("time", "lat"), values((5, 6), "f4"))}, coords={"lat": np.linspace(50, 40, 6), "time": np.arange(5)})
    data.to_zarr("in.zarr", zarr_format=3, consolidated=True, encoding={"t": {"chunks": (2, 4)}})
    run("reverse", "in.zarr", "--axes", "lat", "-o", bucket.at("out.zarr"))
    options = {"key": "test", "secret": "secret", "client_kwargs": {"endpoint_url": s3}}
    out = xarray.open_zarr(bucket.at("out.zarr"), storage_options=options, consolidated=True).load()
    xarray.testing.assert_identical(out, data.isel(lat=slice(None, None, -1)))
    spec = {"driver": "zarr3", "kvstore": {"driver": "s3", "bucket": bucket.name, "path": "out.zarr/t/", "endpoint": s3, "aws_region": "us-east-1", "aws_credentials": {"type": "environment"}}}
    assert same(tensorstore.open(spec).result().read().result(), data.t.values[:, ::-1])
    run("reverse", bucket.at("out.zarr:t"), "--axes", "lat", "-o", "back.npy")
    assert same(np.load("back.npy"), data.t.values)


def test_renamed_chunks_are_copied_by_the_server(bucket, s3, monkeypatch):
    data = array("in.zarr", shape=(12, 6), chunks=(1, 6))
    bucket.upload("in.zarr", "in.zarr")
    with servers.proxy(s3, lambda *_: None) as between:
        monkeypatch.setenv("AWS_ENDPOINT_URL", between.url)
        assert "12 copied without decoding" in run("reverse", bucket.at("in.zarr"), "--axes", "0", "-o", bucket.at("out.zarr"))
        assert [path for method, path in between.requests if method == "GET" and "in.zarr/c/" in path] == []
    run("reverse", "in.zarr", "--axes", "0", "-o", "out.zarr")
    assert bucket.tree("out.zarr") == tree("out.zarr")
    assert same(zarr.open_array("out.zarr", mode="r")[...], data[::-1])


def test_requests_that_fail_are_repeated(bucket, s3, monkeypatch):
    array("in.zarr", "plain", shape=(101, 90), chunks=(10, 9))
    bucket.upload("in.zarr", "in.zarr")
    run("reverse", "in.zarr", "-o", "out.zarr")

    def fails(number, method, path):
        return 500 if number % 5 == 0 else 503 if number % 7 == 0 else "cut" if number % 11 == 0 and method == "GET" else None

    with servers.proxy(s3, fails) as between:
        monkeypatch.setenv("AWS_ENDPOINT_URL", between.url)
        run("reverse", bucket.at("in.zarr"), "-o", bucket.at("out.zarr"), "--threads", "4")
        kinds = {kind for kind, *_ in between.failures}
        assert kinds == {500, 503, "cut"} and len(between.failures) > 50, between.failures
        assert {method for _, method, _ in between.failures} >= {"GET", "PUT", "HEAD"}
    assert bucket.tree("out.zarr") == tree("out.zarr")


def test_a_server_that_keeps_failing(bucket, s3, monkeypatch):
    array("in.zarr", shape=(40, 10), chunks=(5, 10))
    bucket.upload("in.zarr", "in.zarr")
    run("reverse", "in.zarr", "-o", "out.zarr")
    words = ["reverse", bucket.at("in.zarr"), "-o", bucket.at("out.zarr"), "--threads", "1"]
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    for method, key in [("GET", "/in.zarr/c/3/0"), ("PUT", "/out.zarr/c/5/0")]:
        with servers.proxy(s3, lambda number, asked, path: 503 if asked == method and path.split("?")[0].endswith(key) else None) as between:
            monkeypatch.setenv("AWS_ENDPOINT_URL", between.url)
            error = run(*words, code=1)
            assert f"cannot {'read' if method == 'GET' else 'write'} s3://{bucket.name}{key}: " in error and "503" in error, error
            assert sum(path.split("?")[0].endswith(key) and asked == method for asked, path in between.requests) == 2
            assert "out.zarr/zarr.json" not in bucket.keys()
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3)
    assert "complete from an earlier run" in run(*words)
    assert bucket.tree("out.zarr") == tree("out.zarr")


def test_without_a_server(bucket, monkeypatch):
    array("in.zarr")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{servers.free_port()}")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    assert f"cannot read s3://{bucket.name}/.out.zarr.retrograde.json: " in run("reverse", "in.zarr", "-o", bucket.at("out.zarr"), code=1)
    assert f"cannot read s3://{bucket.name}/none.zarr" in run("reverse", bucket.at("none.zarr"), code=1)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "none")
    assert "AWS_MAX_ATTEMPTS" in run("info", bucket.at("in.zarr"), code=1)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["kill -9", "Ctrl-C"])
def test_killed_at_random_points(bucket, how):
    large("in.zarr", (401, 200), (20, 50), compressors=None)
    bucket.upload("in.zarr", "in.zarr")
    words = ["reverse", bucket.at("in.zarr"), "--threads", "2", "-o", bucket.at("out.zarr")]
    run("reverse", "in.zarr", "-o", "whole.zarr")
    expected = tree("whole.zarr")
    began = time.perf_counter()
    run(*words)
    took = time.perf_counter() - began
    assert bucket.tree("out.zarr") == expected
    run("reverse", bucket.at("in.zarr"), "--axes", "", "-o", bucket.at("out.zarr"), "--force")
    run(*words[:-2], "-o", bucket.at("out.zarr"), "--force")
    rng = random.Random(2)
    kills = resumed = rounds = 0
    bucket.client.delete_object(Bucket=bucket.name, Key="out.zarr/zarr.json")
    for key in bucket.keys("out.zarr/"):
        bucket.client.delete_object(Bucket=bucket.name, Key=key)
    while kills < KILLS:
        rounds += 1
        assert rounds < 20 * KILLS, f"only {kills} of {rounds} runs were interrupted"
        process = start(*words)
        time.sleep(rng.uniform(0, took))
        process.send_signal(how)
        _, err = process.communicate(timeout=120)
        if process.returncode in (-how, 130):
            kills += 1
            # It is not a store before it is complete.
            assert ".out.zarr.retrograde.json" in bucket.keys() or "out.zarr/zarr.json" not in bucket.keys() or bucket.tree("out.zarr") == expected
            if "out.zarr/zarr.json" in bucket.keys():
                assert {name: content for name, content in bucket.tree("out.zarr").items() if name.startswith("c/")}.keys() == {name for name in expected if name.startswith("c/")}
            continue
        if "exists already" in err:
            # It was killed after it had completed.
            process.returncode = 0
        assert process.returncode == 0, err
        resumed += "complete from an earlier run" in err
        assert bucket.tree("out.zarr") == expected
        for key in bucket.keys("out.zarr/"):
            bucket.client.delete_object(Bucket=bucket.name, Key=key)
    last = start(*words)
    _, err = last.communicate(timeout=120)
    assert last.returncode == 0 or "exists already" in err, err
    assert bucket.tree("out.zarr") == expected
    assert resumed or "complete from an earlier run" in err
    assert not [key for key in bucket.keys() if "retrograde" in key]
    print(f"{kills} interruptions in {rounds} runs of {took:.2f} s")


@pytest.mark.parametrize("what", ["removed", "replaced"])
def test_inputs_that_change_between_two_runs(bucket, s3, monkeypatch, what):
    array("in.zarr", shape=(40, 10), chunks=(1, 10))
    bucket.upload("in.zarr", "in.zarr")
    words = ["reverse", bucket.at("in.zarr"), "-o", bucket.at("out.zarr"), "--threads", "1", "--axes", "0,1"]
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with servers.proxy(s3, lambda number, asked, path: 503 if asked == "GET" and "/in.zarr/c/5/" in path else None) as between:
        monkeypatch.setenv("AWS_ENDPOINT_URL", between.url)
        run(*words, code=1)
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3)
    assert "out.zarr/c/0/0" in bucket.keys()
    if what == "removed":
        bucket.client.delete_object(Bucket=bucket.name, Key="in.zarr/c/39/0")
        (Path("in.zarr") / "c/39/0").unlink()
    else:
        content = tree("in.zarr")["c/5/0"]
        bucket.client.put_object(Bucket=bucket.name, Key="in.zarr/c/39/0", Body=content)
        (Path("in.zarr") / "c/39/0").write_bytes(content)
    assert "complete from an earlier run" in run(*words)
    run("reverse", "in.zarr", "-o", "out.zarr")
    assert bucket.tree("out.zarr") == tree("out.zarr")
    assert not [key for key in bucket.keys() if "retrograde" in key]


def test_existing_outputs(bucket):
    array("in.zarr")
    run("reverse", "in.zarr", "--axes", "0", "-o", bucket.at("out.zarr"))
    before = bucket.tree("out.zarr")
    assert "exists already" in run("reverse", "in.zarr", "-o", bucket.at("out.zarr"), code=1)
    assert bucket.tree("out.zarr") == before
    assert "--memory" in run("reverse", "in.zarr", "-o", bucket.at("out.zarr"), "--force", "--memory", "1M", code=1)
    assert bucket.tree("out.zarr") == before
    run("reverse", "in.zarr", "-o", "out.zarr")
    run("reverse", "in.zarr", "-o", bucket.at("out.zarr"), "--force")
    assert bucket.tree("out.zarr") == tree("out.zarr")
    # The incomplete output of another command is left alone.
    bucket.client.put_object(Bucket=bucket.name, Key=".new.zarr.retrograde.json", Body=b"{}")
    bucket.client.put_object(Bucket=bucket.name, Key="new.zarr/c/0/0", Body=b"old")
    error = run("reverse", "in.zarr", "-o", bucket.at("new.zarr"), code=1)
    assert "incomplete output of another command" in error and bucket.tree("new.zarr") == {"c/0/0": b"old"}
    run("reverse", "in.zarr", "-o", bucket.at("new.zarr"), "--force")
    assert bucket.tree("new.zarr") == tree("out.zarr")
    for output in [bucket.at("out.zarr"), bucket.at("out.zarr/in"), f"s3://{bucket.name}"]:
        assert "may not be the input" in run("reverse", bucket.at("out.zarr"), "-o", output, "--force", code=1)
    assert "needs a path" in run("reverse", "in.zarr", "-o", f"s3://{bucket.name}", code=1)
    assert "cannot be written to a URL" in run("reverse", "in.zarr", "-o", bucket.at("out.npy"), code=1)


def test_bad_chunks_leave_nothing(bucket):
    array("in.zarr", "crc32c", shape=(8, 8), chunks=(4, 4))
    content = bytearray(tree("in.zarr")["c/1/0"])
    content[9] ^= 1
    bucket.upload("in.zarr", "in.zarr")
    bucket.client.put_object(Bucket=bucket.name, Key="in.zarr/c/1/0", Body=bytes(content))
    error = run("reverse", bucket.at("in.zarr"), "-o", bucket.at("out.zarr"), code=1)
    assert f"s3://{bucket.name}/in.zarr/c/1/0: chunk [1, 0]" in error and "checksum" in error.lower()
    assert all(key.startswith("in.zarr/") for key in bucket.keys())
    array("plain.zarr", "plain", shape=(9, 8), chunks=(4, 4))
    bucket.upload("plain.zarr", "plain.zarr")
    for content in [b"", b"short"]:
        bucket.client.put_object(Bucket=bucket.name, Key="plain.zarr/c/1/0", Body=content)
        error = run("reverse", bucket.at("plain.zarr"), "-o", bucket.at("out.zarr"), code=1)
        assert f"plain.zarr/c/1/0: chunk [1, 0]: has {len(content)} bytes, expected 64" in error
    assert not [key for key in bucket.keys() if "out.zarr" in key]


def test_memory(bucket):
    """The array is four times the limit."""
    limit = 64 << 20
    large("in.zarr", (4 * limit // 4 // 1024 - 100, 1024), (256, 1024), compressors=None)
    used = peak("reverse", "in.zarr", "--axes", "0", "--memory", "64M", "-o", bucket.at("out.zarr"))
    print(f"up: {used / 2**20:.0f} MiB of {limit / 2**20:.0f}")
    assert used <= limit
    used = peak("reverse", bucket.at("out.zarr"), "--axes", "0", "--memory", "64M", "-o", "back.zarr")
    print(f"down: {used / 2**20:.0f} MiB of {limit / 2**20:.0f}")
    assert used <= limit and tree("back.zarr") == tree("in.zarr")


@pytest.mark.parametrize("ranges", [True, False], ids=["ranges", "whole files"])
def test_http(folder, ranges):
    data = array("in.zarr", "plain", shape=(9, 8), chunks=(4, 4))
    array("coded.zarr")
    run("reverse", "in.zarr", "-o", "expected.zarr")
    run("reverse", "coded.zarr", "-o", "coded-expected.zarr")
    with servers.files(folder, ranges) as server:
        run("reverse", f"{server.url}/in.zarr", "-o", "out.zarr")
        assert any(asked for _, path, asked in server.requests if "/c/" in path), "no range was asked for"
        run("reverse", f"{server.url}/coded.zarr", "-o", "coded-out.zarr")
        assert "float32 [9, 8]" in run("info", f"{server.url}/in.zarr")
        assert "not a Zarr array" in run("info", f"{server.url}/none.zarr", code=1)
        assert "only read" in run("reverse", "in.zarr", "-o", f"{server.url}/out.zarr", code=1)
    assert tree("out.zarr") == tree("expected.zarr") and tree("coded-out.zarr") == tree("coded-expected.zarr")
    assert same(zarr.open_array("out.zarr", mode="r")[...], data[::-1, ::-1])


def test_http_with_failures(folder, monkeypatch):
    array("in.zarr", shape=(60, 60), chunks=(5, 6))
    run("reverse", "in.zarr", "-o", "expected.zarr")
    with servers.files(folder) as server:
        fails = lambda number, method, path: 500 if number % 4 == 0 else "cut" if number % 9 == 0 else None
        with servers.proxy(server.url, fails) as between:
            run("reverse", f"{between.url}/in.zarr", "-o", "out.zarr", "--threads", "3")
            assert {kind for kind, *_ in between.failures} == {500, "cut"}
    assert tree("out.zarr") == tree("expected.zarr")


@pytest.mark.parametrize("version", [2, 3])
def test_groups_over_http(folder, version):
    (folder / "my data").mkdir()
    group = zarr.create_group("my data/in.zarr", zarr_format=version, attributes={"a": 1})
    group.create_group("x").create_array("z", shape=(5, 4), chunks=(2, 2), dtype="i4")[...] = np.arange(20).reshape(5, 4)
    with servers.files(folder) as server:
        url = f"{server.url}/my%20data/in.zarr"
        assert "no consolidated metadata" in run("reverse", url, "-o", "out.zarr", code=1)
        run("reverse", f"{url}:x/z", "-o", "z.zarr")
        zarr.consolidate_metadata("my data/in.zarr")
        run("reverse", url, "--axes", "0", "-o", "out.zarr")
    run("reverse", "my data/in.zarr", "--axes", "0", "-o", "expected.zarr")
    assert tree("out.zarr") == tree("expected.zarr")
    assert (zarr.open_array("z.zarr", mode="r")[...] == np.arange(20).reshape(5, 4)[::-1, ::-1]).all()


def test_tls(bucket, s3, folder, monkeypatch):
    array("in.zarr")
    run("reverse", "in.zarr", "-o", "expected.zarr")
    tls = servers.certificate(folder / "authority.pem")
    with servers.files(folder, tls=tls) as server, servers.proxy(s3, tls=tls) as between:
        # The server's authority is unknown: an error, and nothing is written. Retries would take minutes.
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
        assert "certificate" in run("reverse", f"{server.url}/in.zarr", "-o", "out.zarr", code=1).lower()
        assert not (folder / "out.zarr").exists() and server.requests == []
        monkeypatch.setenv("SSL_CERT_FILE", str(folder / "authority.pem"))
        run("reverse", f"{server.url}/in.zarr", "-o", "out.zarr")
        monkeypatch.setenv("AWS_ENDPOINT_URL", between.url)
        run("reverse", f"{server.url}/in.zarr", "-o", bucket.at("out.zarr"))
        assert between.requests
    assert tree("out.zarr") == bucket.tree("out.zarr") == tree("expected.zarr")
