"""Plays jobs with the engine, as a process of its own, so that its CPU and memory are all the engine's doing.

    python play.py jobs.json

The file holds a list of jobs as rig/generator.py has them. Prints one line of JSON a job: the result, and what the
whole process spent from just before the plan was made until the result was there, everything that checks and sums
up included. Python's own start is left out: it is no part of a request. Memory is the growth of the peak of
resident memory, which is reset before each job. Source: proc_pid_clear_refs(5).
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

from stackrace.measure.engine.engine import run
from stackrace.measure.load import Load, LoadResult, Quantiles
from stackrace.measure.workload import Answer, Request, Sameness, Workload

# The answer of the private nginx and of the known-delay server; every byte of it is checked.
_ANSWER = Answer(status=200, body=b"Hello, World!", content_type="text/plain", sameness=Sameness.BODY)
_WORKLOAD = Workload(requests=(Request(path="/"),), answers=(_ANSWER,))


def main() -> None:
    """Play every job of the file."""
    for job in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")):
        print(json.dumps(play(job)), flush=True)


def play(job: dict[str, Any]) -> dict[str, Any]:
    """Return what the engine reports, and what it cost."""
    host, _, port = job["address"].rpartition(":")
    load = Load(
        concurrency=job["connections"],
        duration_s=None if job["requests"] else job["seconds"],
        requests=job["requests"],
        timeout_s=max(60.0, 2 * job["seconds"]),
        rate_per_s=job["rate_per_s"],
        poisson=job["poisson"],
        seed=job["seed"],
    )
    resident, stolen_s = reset_peak(), stolen()
    before = time.process_time()
    result = run(address=(host, int(port)), workload=_WORKLOAD, load=load, spin=job["spin"],
                 warmup_s=job["warmup_s"], cores=(job["core"],))  # fmt: skip
    cpu_s = time.process_time() - before
    grown = memory("VmHWM") - resident
    return {**report(result), "cpu_s": cpu_s, "memory_growth_bytes": grown, "stolen_s": stolen() - stolen_s}


def report(result: LoadResult) -> dict[str, Any]:
    """Return the parts of a result that the benchmarks look at."""
    return {
        "requests": result.counts.ok,
        "errors": result.counts.errors,
        "in_flight": result.counts.in_flight + result.counts.unsent,
        "seconds": result.duration_s,
        "started_at": result.started_at,
        "busy": result.generator_busy,
        "latency": quantiles(result.latency),
        "service": quantiles(result.service),
        "lag": quantiles(result.lag),
    }


def quantiles(seen: Quantiles | None) -> dict[str, Any] | None:
    """Return a distribution as JSON can hold it."""
    if seen is None:
        return None
    names = ("p50", "p90", "p99", "p999", "max")
    return {"bounds": sorted(seen.censored), **{name: getattr(seen, name) for name in names}}


def reset_peak() -> int:
    """Have the peak of resident memory begin anew; return what is resident now."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return memory("VmRSS")


def stolen() -> float:
    """Return the CPU seconds that the hypervisor gave to others, all cores together. Source: proc_stat(5)."""
    first = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0]
    return int(first.split()[8]) / os.sysconf("SC_CLK_TCK")


def memory(name: str) -> int:
    """Return a line of /proc/self/status in bytes."""
    status = Path(f"/proc/{os.getpid()}/status").read_text(encoding="ascii")
    match = re.search(rf"^{name}:\s+(\d+) kB$", status, re.MULTILINE)
    assert match is not None, f"/proc has no {name}"
    return int(match[1]) * 1024


if __name__ == "__main__":
    main()
