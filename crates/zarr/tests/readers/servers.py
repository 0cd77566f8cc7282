"""Servers on loopback: S3 by moto, one that fails now and then in front of it, and plain HTTP."""

import http.client
import http.server
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import boto3
import deadline
import trustme
from RangeHTTPServer import RangeRequestHandler

SETTINGS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1"}


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextmanager
def moto():
    """A server of S3; yields its URL."""
    port = free_port()
    environment = os.environ | SETTINGS
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    # For all tests.
    process = deadline.Process(command, limit=3600, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    try:
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert process.poll() is None, "moto_server ended"
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


class Bucket:
    """A bucket of a server."""

    def __init__(self, url, name):
        self.url, self.name = url, name
        self.client = boto3.client("s3", endpoint_url=url, region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="secret")
        self.client.create_bucket(Bucket=name)

    def upload(self, folder, prefix):
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file():
                self.client.put_object(Bucket=self.name, Key=f"{prefix}/{path.relative_to(folder)}", Body=path.read_bytes())

    def keys(self, prefix=""):
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.name, Prefix=prefix)
        return [found["Key"] for page in pages for found in page.get("Contents", [])]

    def tree(self, prefix):
        """Every object of a store with its bytes."""
        prefix = prefix.rstrip("/") + "/"
        return {key.removeprefix(prefix): self.client.get_object(Bucket=self.name, Key=key)["Body"].read() for key in self.keys(prefix)}

    def at(self, path):
        return f"s3://{self.name}/{path}"


def certificate(file):
    """Writes the certificate of a new authority to `file`; returns an SSL context for a server that it trusts."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(file)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


class Serving:
    """An HTTP server on a thread, and what it was asked for. With `tls`, an SSL context, it is one of HTTPS."""

    def __init__(self, handler, tls=None):
        self.requests = []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        if tls:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.server.daemon_threads = True
        self.server.serving = self
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def files(folder, ranges=True, tls=None):
    """A plain server of files, with or without ranges, of HTTP or HTTPS."""
    base = RangeRequestHandler if ranges else http.server.SimpleHTTPRequestHandler

    class Handler(base):
        def log_message(self, *_):
            pass

        def do_GET(self):
            self.server.serving.requests.append(("GET", self.path, self.headers.get("Range")))
            super().do_GET()

    return Serving(partial(Handler, directory=str(folder)), tls)


def proxy(target, fails=lambda *_: None, tls=None):
    """Passes requests on. `fails(number, method, path)` gives a status to answer instead, "cut" to end in the middle of the answer, or nothing."""
    host = target.removeprefix("http://")

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def serve(self):
            serving = self.server.serving
            with serving.lock:
                serving.requests.append((self.command, self.path))
                number = len(serving.requests)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            failure = fails(number, self.command, self.path)
            if isinstance(failure, int):
                serving.failures.append((failure, self.command, self.path))
                self.send_response(failure)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            connection = http.client.HTTPConnection(host, timeout=60)
            connection.request(self.command, self.path, body, dict(self.headers))
            answer = connection.getresponse()
            content = answer.read()
            self.send_response_only(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                    self.send_header(name, value)
            length = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(content))
            self.send_header("Content-Length", length or "0")
            self.end_headers()
            if self.command != "HEAD":
                if failure == "cut" and len(content) > 1:
                    serving.failures.append(("cut", self.command, self.path))
                    self.wfile.write(content[: len(content) // 2])
                    self.wfile.flush()
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                self.wfile.write(content)

        do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = serve

    serving = Serving(Handler, tls)
    serving.failures, serving.lock = [], threading.Lock()
    return serving
