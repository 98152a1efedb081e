"""The engine and the floor as generators among the others, each in a process of its own."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from .generator import Ended, Generator, Job, NotUnderstoodError, Seen, measure
from .servers import example

_PLAYER = Path(__file__).with_name("play.py")
_QUANTILES = ("p50", "p90", "p99", "p999", "max")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One of several runs in one process; ``started_at`` in seconds of CLOCK_MONOTONIC.

    ``stolen_s`` is the CPU time that the hypervisor gave to others meanwhile, all cores together.
    """

    started_at: float
    seconds: float
    requests: int
    errors: int
    in_flight: int
    busy: float
    stolen_s: float
    lag: Mapping[str, float] | None


def play_many(jobs: Sequence[Job]) -> list[Run]:
    """Play ``jobs`` one after the other on the first one's core; exits when the engine does not get through."""
    with tempfile.TemporaryDirectory() as folder:
        patience_s = sum(job.seconds + 1 for job in jobs) + 60
        ended = measure(_command(jobs, Path(folder)), core=jobs[0].core, patience_s=patience_s)
    if ended.status != 0:
        sys.exit(f"the engine did not get through:\n{ended.complaints}")
    lines = [json.loads(line) for line in ended.output.splitlines()]
    return [Run(**{name: line[name] for name in Run.__dataclass_fields__}) for line in lines]


def _command(jobs: Sequence[Job], folder: Path) -> list[str]:
    file = folder / "jobs.json"
    file.write_text(json.dumps([asdict(job) for job in jobs]), encoding="utf-8")
    return [sys.executable, str(_PLAYER), str(file)]


def _parse(ended: Ended, _: Path) -> Seen:
    """The latency as a user of the engine reads it; service and lag are in ``more`` as service_p99, lag_p99 …"""
    if ended.status != 0:
        raise NotUnderstoodError("the engine did not get through")
    line: dict[str, Any] = json.loads(ended.output)
    latency = line["latency"]
    more = {name: float(line[name]) for name in ("busy", "memory_growth_bytes", "in_flight")}
    for kind in ("service", "lag"):
        more |= {f"{kind}_{name}": line[kind][name] for name in _QUANTILES if line[kind] is not None}
    return Seen(
        requests=line["requests"],
        errors=line["errors"],
        seconds=line["seconds"],
        cpu_s=line["cpu_s"],
        bounds=frozenset(latency["bounds"]),
        more=more,
        **{name: latency[name] for name in _QUANTILES},
    )


def _floor_command(job: Job, _: Path) -> list[str]:
    return [example("floor"), job.address, str(job.connections), str(max(1, round(job.seconds))), str(job.core)]


def _floor_parse(ended: Ended, _: Path) -> Seen:
    line = json.loads(ended.output)
    cpu_s = line["user_s"] + line["sys_s"]
    more = {"connecting_s": line["connecting_s"]}
    return Seen(requests=line["requests"], errors=0, seconds=line["seconds"], cpu_s=cpu_s, more=more)


OURS = Generator(
    name="ours",
    tool=sys.executable,
    command=lambda job, folder: _command([job], folder),
    parse=_parse,
)
SPINNING = replace(
    OURS,
    name="ours, spinning",
    command=lambda job, folder: _command([replace(job, spin=True)], folder),
)
FLOOR = Generator(name="floor", tool="cargo", command=_floor_command, parse=_floor_parse)
