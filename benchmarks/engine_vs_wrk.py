"""What a request costs the load engine, side by side with wrk: requests per CPU-second of the generator.

Both load the same private nginx in turn, A B B A, at 1, 64 and 1000 connections. nginx has the first core,
the generators the last. Needs nginx, wrk and two cores; without them it says so and skips.

    python benchmarks/engine_vs_wrk.py --seconds 3 --rounds 5
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from stackrace.load.engine import run
from stackrace.model.load import Load
from stackrace.model.workload import Answer, Request, Sameness, Workload

BODY = b"Hello, World!"
CONFIG = """
daemon off; worker_processes 1; worker_cpu_affinity {mask}; pid {root}/pid; error_log {root}/error.log;
events {{ worker_connections 20000; }}
http {{
    access_log off; keepalive_requests 1000000000; keepalive_timeout 1h; default_type text/plain;
    client_body_temp_path {root}/a; proxy_temp_path {root}/b; fastcgi_temp_path {root}/c;
    uwsgi_temp_path {root}/d; scgi_temp_path {root}/e;
    server {{ listen 127.0.0.1:{port} backlog=16384; location / {{ return 200 "{body}"; }} }}
}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """One run of one generator."""

    requests: int
    cpu_s: float
    seconds: float

    @property
    def per_cpu_s(self) -> float:
        """Right answers per second of the generator's CPU time."""
        return self.requests / self.cpu_s


def ours(port: int, connections: int, seconds: float, core: int) -> Cost:
    """The engine with every byte of every answer checked; CPU of the whole process, set-up included."""
    answer = Answer(status=200, body=BODY, content_type="text/plain", sameness=Sameness.BODY)
    workload = Workload(requests=(Request(path="/"),), answers=(answer,))
    load = Load(concurrency=connections, duration_s=seconds)
    before = time.process_time()
    result = run(address=("127.0.0.1", port), workload=workload, load=load, cores=(core,))
    cpu_s = time.process_time() - before
    if result.counts.errors:
        sys.exit(f"the engine met errors: {result.counts}")
    return Cost(requests=result.counts.ok, cpu_s=cpu_s, seconds=result.duration_s)


def wrk(port: int, connections: int, seconds: float, core: int) -> Cost:
    """wrk with one thread; its answers are not checked beyond the status."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = ["taskset", "-c", str(core), "wrk", "-t1", f"-c{connections}", f"-d{round(seconds)}s"]
    output = subprocess.run([*command, f"http://127.0.0.1:{port}/"], capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    match = re.search(r"(\d+) requests in ", output.stdout)
    if match is None:
        sys.exit(f"wrk's output is not understood:\n{output.stdout}")
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(requests=int(match[1]), cpu_s=cpu_s, seconds=float(round(seconds)))


@contextmanager
def private_nginx(core: int) -> Iterator[int]:
    """A fresh nginx on a free port of loopback; yields the port and leaves nothing behind."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        config = Path(folder, "nginx.conf")
        mask = "1".ljust(core + 1, "0")
        config.write_text(CONFIG.format(root=folder, port=port, body=BODY.decode(), mask=mask))
        os.chmod(folder, 0o755)  # noqa: PTH101 (nginx's worker is another user when started as root)
        process = subprocess.Popen(["nginx", "-p", folder, "-c", str(config)])
        try:
            wait_for(port)
            yield port
        finally:
            process.terminate()
            process.wait(timeout=10)


def wait_for(port: int) -> None:
    """Return once something listens on ``port``; exit after 5 seconds."""
    for _ in range(100):
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    sys.exit("nginx did not start within 5 seconds")


def compare(port: int, connections: int, seconds: float, rounds: int, core: int) -> None:
    """Print one line: medians of both, and the median of the rounds' ratios with its range."""
    pairs: list[tuple[Cost, Cost]] = []
    for number in range(rounds):
        first, second = (ours, wrk) if number % 2 == 0 else (wrk, ours)
        costs = {each: each(port, connections, seconds, core) for each in (first, second)}
        pairs.append((costs[ours], costs[wrk]))
    ratios = [mine.per_cpu_s / theirs.per_cpu_s for mine, theirs in pairs]
    speeds = [(mine.requests / mine.seconds) / (theirs.requests / theirs.seconds) for mine, theirs in pairs]
    micros = [statistics.median(1e6 / cost.per_cpu_s for cost in side) for side in zip(*pairs, strict=True)]
    print(
        f"{connections:>6} connections   ours {micros[0]:5.2f} µs   wrk {micros[1]:5.2f} µs   "
        f"requests per CPU-second {statistics.median(ratios):.2f} × wrk "
        f"({min(ratios):.2f} to {max(ratios):.2f})   throughput {statistics.median(speeds):.2f} × wrk",
        flush=True,
    )


def main() -> None:
    """Run the comparison as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0, help="length of one run (default 3)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each generator (default 5)")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 64, 1000], help="default 1 64 1000")
    options = parser.parse_args()
    missing = [name for name in ("nginx", "wrk", "taskset") if shutil.which(name) is None]
    cores = sorted(os.sched_getaffinity(0))
    if missing or len(cores) < 2:
        print(f"skipped: needs two cores (here {len(cores)}) and " + (", ".join(missing) or "nothing else"))
        return
    with private_nginx(cores[0]) as port:
        for connections in options.connections:
            compare(port, connections, options.seconds, options.rounds, cores[-1])


if __name__ == "__main__":
    main()
