"""A load generator that was stopped for a while says so: what it did not send in time is late, not missing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time

import pytest
from tests.conftest import STACKRACE
from tests.http_servers import Hello, Server, serving

STOPPED_S = 3.0


class Handler(Hello):
    def respond(self) -> None:
        self.server.asked.set()
        time.sleep(0.005)  # a closed loop need not be fast
        super().respond()


@pytest.fixture
def server():
    server = Server(Handler)
    server.asked = threading.Event()
    with serving(server):
        yield server


@pytest.mark.parametrize(
    "loop",
    [["--rate", "100/s", "-n", "600"], pytest.param(["-c", "1", "-d", "6s"], marks=pytest.mark.exhaustive)],
    ids=["open", "closed"],
)
@pytest.mark.exhaustive
def test_a_stopped_generator_shows(server, loop):
    """The bounds hold by themselves: the stop lasts as long as it sleeps at least, half of what is scheduled."""
    command = [str(STACKRACE), "load", server.url, *loop, "--no-ceiling", "--json"]
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
