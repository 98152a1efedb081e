"""How long each verb takes before it does anything, beside a bare Python: the price of looking something up.

python benchmarks/startup.py
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from stackrace.extensions import Verb, declared

RUNS = 9
STACKRACE = str(Path(sys.executable).with_name("stackrace"))
CORE = ("run", "stacks", "install", "up", "load", "report", "compare", "name", "completion")

Cost = tuple[float, float]
"""Wall time and CPU time in seconds."""


class Page(BaseHTTPRequestHandler):
    """Answers every request with two bytes."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer."""
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def cost(*command: str, folder: str) -> Cost:
    """Return what a command takes, the medians over several runs, after one that warms caches."""
    spent = []
    for _ in range(RUNS + 1):
        begun, before = time.perf_counter(), _cpu_s()
        subprocess.run(command, check=True, capture_output=True, cwd=folder)
        spent.append((time.perf_counter() - begun, _cpu_s() - before))
    wall, cpu = zip(*spent[1:], strict=True)
    return statistics.median(wall), statistics.median(cpu)


def _cpu_s() -> float:
    """Return the CPU time of all processes that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def main() -> None:
    """Print the medians of every verb's help, and of three verbs at work."""
    with tempfile.TemporaryDirectory() as folder, ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        os.environ["STACKRACE_STORE"] = f"sqlite:///{folder}/races.sqlite3"
        race = ["--bundled", "--stack", "waitress", "-c", "1", "--repeats", "1", "--requests", "20", "--no-twin"]
        subprocess.run([STACKRACE, "run", *race], capture_output=True, cwd=folder)
        url = f"http://127.0.0.1:{server.server_port}/"
        bare = cost(sys.executable, "-c", "pass", folder=folder)
        print(f"start-up, medians of {RUNS}; beside a bare Python of {1000 * bare[0]:.0f} ms")
        commands = [
            ["load", url, "-c", "1", "-d", "200ms", "--no-ceiling"],
            ["stacks"],
            ["report"],
            ["--help"],
            *([verb, "--help"] for verb in sorted({*CORE, *(verb.name for verb in declared(Verb))})),
        ]
        for words in commands:
            wall, cpu = cost(STACKRACE, *words, folder=folder)
            shown = " ".join(words).replace(url, "URL")
            print(f"  {shown:44} {1000 * wall:6.0f} ms   {1000 * cpu:6.0f} ms of CPU   {wall / bare[0]:5.1f} ×")
        server.shutdown()


if __name__ == "__main__":
    main()
