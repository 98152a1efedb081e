"""A load generator that was stopped for a while says so: what it did not send in time is late, not missing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.conftest import STACKRACE

STOPPED_S = 3.0


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65536

    def do_GET(self) -> None:
        self.server.asked.set()
        time.sleep(0.005)  # a closed loop need not be fast
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 1024  # all connections that are opened at once
    daemon_threads = True


@pytest.fixture
def server():
    with Server(("127.0.0.1", 0), Handler) as server:
        server.asked = threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.mark.parametrize(
    "loop",
    [["--rate", "100/s", "-n", "600"], pytest.param(["-c", "1", "-d", "6s"], marks=pytest.mark.exhaustive)],
    ids=["open", "closed"],
)
@pytest.mark.exhaustive
def test_a_stopped_generator_shows(server, loop):
    """The bounds hold by themselves: the stop lasts as long as it sleeps at least, half of what is scheduled."""
    url = f"http://127.0.0.1:{server.server_port}/"
    command = [str(STACKRACE), "load", url, *loop, "--no-ceiling", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert server.asked.wait(600)
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(STOPPED_S)
        os.kill(process.pid, signal.SIGCONT)
        output, _ = process.communicate(timeout=1800)
    result = json.loads(output)
    if "--rate" in loop:
        assert result["scheduled"] == 600
        assert result["latency"]["max"] >= result["lag"]["max"] >= 0.5 * STOPPED_S
        assert result["latency"]["p90"] >= 0.2 * STOPPED_S, "of all requests many fell due meanwhile"
    else:
        assert result["series"], "bins in which nothing finished are there, too"
        assert sum(bin_["ok"] == 0 for bin_ in result["series"]) >= 5 or result["latency"]["max"] >= 0.5
