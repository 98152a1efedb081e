"""Servers of the benchmarks: those in Rust, built from the engine's examples, and a private nginx."""

from __future__ import annotations

import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self

from stackrace.deploy.sockets import free_port

_ROOT = Path(__file__).resolve().parents[2]


def example(name: str) -> str:
    """Return the path of an example's executable; all of them are built once."""
    try:
        return _examples()[name]
    except KeyError:
        sys.exit(f"cargo built no example named {name}; look at crates/loadgen/examples")


@cache
def _examples() -> dict[str, str]:
    if shutil.which("cargo") is None:
        print("skipped: needs cargo")
        sys.exit(0)
    command = ["cargo", "build", "--release", "--package", "loadgen", "--examples", "--quiet"]
    built = subprocess.run(
        [*command, "--message-format=json-render-diagnostics"],
        cwd=_ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if built.returncode != 0:
        sys.exit("the engine's examples cannot be built; cargo says why above")
    messages = (json.loads(line) for line in built.stdout.splitlines())
    return {
        message["target"]["name"]: message["executable"]
        for message in messages
        if message["reason"] == "compiler-artifact" and message["executable"]
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """The server's own stamps in seconds: how long its answers took, and what it left unanswered."""

    count: int
    mean: float
    p50: float
    p90: float
    p99: float
    p999: float
    max: float
    arrived: int
    unanswered: int
    unrecorded: int
    first_arrival: float
    last_departure: float


class KnownDelay:
    """Started on entry and ended on exit; ``address`` holds meanwhile, ``truth`` and ``arrivals_ns`` afterwards."""

    address: str
    truth: Truth
    arrivals_ns: array[int]

    def __init__(self, *, core: int, delay: str = "constant:0", seed: int = 0, stall: str | None = None) -> None:
        """``delay`` and ``stall`` as the server's command line takes them."""
        self._command = [example("known_delay"), "--core", str(core), "--delay", delay, "--seed", str(seed)]
        if stall is not None:
            self._command += ["--stall", stall]

    def __enter__(self) -> Self:
        """Return once it listens."""
        self._folder = tempfile.TemporaryDirectory()
        self._arrivals = Path(self._folder.name, "arrivals")
        command = [*self._command, "--arrivals", str(self._arrivals)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip()
        if not self.address:
            self._process.wait()
            self._folder.cleanup()
            sys.exit("the known-delay server did not start; it says why above")
        return self

    def __exit__(self, *raised: type[BaseException] | BaseException | TracebackType | None) -> None:
        """End it and keep what it knows."""
        self._process.terminate()
        output, _ = self._process.communicate(timeout=60)
        try:
            self.truth = Truth(**json.loads(output))
            self.arrivals_ns = array("Q", self._arrivals.read_bytes())
            if sys.byteorder == "big":
                self.arrivals_ns.byteswap()
        finally:
            self._folder.cleanup()


@contextmanager
def null_server(core: int) -> Iterator[str]:
    """A null server on ``core``; yields its address. It ends with its input, so even if this process is killed."""
    command = [example("null_server"), str(core)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        if not address:
            sys.exit("the null server did not start; it says why above")
        yield address


BODY = b"Hello, World!"
_CONFIG = """
daemon off; worker_processes 1; worker_cpu_affinity {mask}; pid {root}/pid; error_log {root}/error.log;
events {{ worker_connections {connections}; }}
http {{
    access_log off; keepalive_requests 1000000000; keepalive_timeout 1h; default_type text/plain;
    client_body_temp_path {root}/a; proxy_temp_path {root}/b; fastcgi_temp_path {root}/c;
    uwsgi_temp_path {root}/d; scgi_temp_path {root}/e;
    server {{ listen 127.0.0.1:{port} backlog=16384; location / {{ return 200 "{body}"; }} }}
}}
"""


@contextmanager
def private_nginx(core: int) -> Iterator[str]:
    """A fresh nginx with one worker on ``core``; yields its address and leaves nothing behind.

    It may have as many connections as files: those of the last generator may still be closing.
    """
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        config = Path(folder, "nginx.conf")
        mask = "1".ljust(core + 1, "0")
        text = _CONFIG.format(
            root=folder,
            port=port,
            body=BODY.decode(),
            mask=mask,
            connections=resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        )
        config.write_text(text, encoding="utf-8")
        os.chmod(folder, 0o755)  # noqa: PTH101 (nginx's worker is another user when started as root)
        process = subprocess.Popen(["nginx", "-p", folder, "-c", str(config)])
        try:
            _wait_for(port)
            yield f"127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=10)


def _wait_for(port: int) -> None:
    """Return once something listens on ``port``; exit after 5 seconds."""
    for _ in range(100):
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    sys.exit("nginx did not start within 5 seconds")
