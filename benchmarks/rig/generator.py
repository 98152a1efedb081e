"""Runs a generator, whichever it is, for a job, and accounts for exactly its process: CPU comes from wait4."""

from __future__ import annotations

import math
import os
import select
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from .machine import await_quiet


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Load ``address`` from ``core`` over ``connections``: for ``seconds``, or ``requests`` if it can count.

    ``rate_per_s`` asks for an open loop, which only some generators have. Of ours, ``spin`` has it never sleep and
    ``warmup_s`` has it load for so long before it records.
    """

    address: str
    core: int
    connections: int
    seconds: float
    requests: int | None = None
    rate_per_s: float | None = None
    poisson: bool = False
    seed: int = 0
    spin: bool = False
    warmup_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A generator's own report, in seconds; None is what it does not tell.

    ``bounds`` names quantiles that it calls lower bounds. ``note`` says how it ended when that was not in order.
    """

    requests: int | None = None
    errors: int | None = None
    seconds: float | None = None
    p50: float | None = None
    p90: float | None = None
    p99: float | None = None
    p999: float | None = None
    max: float | None = None
    cpu_s: float | None = None
    bounds: frozenset[str] = frozenset()
    note: str = ""
    more: Mapping[str, float] = field(default_factory=dict)

    def quantile(self, name: str) -> float | None:
        """Return the quantile called p50, p90, p99, p999 or max."""
        value: float | None = getattr(self, name)
        return value


class NotUnderstoodError(Exception):
    """A generator's output is not what its parser knows."""


def of_sorted(values: Sequence[float], q: float) -> float:
    """Return the smallest of ascending ``values`` that at least the fraction ``q`` of them do not exceed.

    So do the engine and the known-delay server: a quantile is a value that was seen.
    """
    if not values:
        raise ValueError("there are no values")
    return values[max(0, math.ceil(q * len(values)) - 1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Stop the process (SIGSTOP) ``after_s`` seconds from its start, for ``for_s`` seconds."""

    after_s: float
    for_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What a process left: its output, exit status (negative: the signal that ended it) and CPU time."""

    output: str
    complaints: str
    status: int
    cpu_s: float
    timed_out: bool


def measure(
    command: Sequence[str],
    *,
    core: int,
    patience_s: float,
    pause: Pause | None = None,
    environment: Mapping[str, str] | None = None,
) -> Ended:
    """Run ``command`` on ``core`` until it ends, or kill it after ``patience_s`` seconds."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(
            ["taskset", "-c", str(core), *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=complaints,
            env={**os.environ, **(environment or {})},
        )
        status, cpu_s, timed_out = _wait(process, patience_s, pause)
        return Ended(
            output=_text(output.fileno()),
            complaints=_text(complaints.fileno()),
            status=status,
            cpu_s=cpu_s,
            timed_out=timed_out,
        )


def _wait(process: subprocess.Popen[bytes], patience_s: float, pause: Pause | None) -> tuple[int, float, bool]:
    """Sleep until it ends: whoever watches a benchmark must not take part in it."""
    file = os.pidfd_open(process.pid)
    try:
        if pause is not None and not _ends_within(file, pause.after_s):
            os.kill(process.pid, signal.SIGSTOP)
            _ends_within(file, pause.for_s)
            os.kill(process.pid, signal.SIGCONT)
        timed_out = not _ends_within(file, patience_s)
    except BaseException:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        raise
    finally:
        os.close(file)
    if timed_out:
        os.kill(process.pid, signal.SIGKILL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime, timed_out


def _ends_within(file: int, seconds: float) -> bool:
    """Whether the process behind a pidfd ends within ``seconds``; returns when it does. Source: pidfd_open(2)."""
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(1000 * seconds))


def _text(file: int) -> str:
    return Path(f"/proc/self/fd/{file}").read_text(encoding="utf-8", errors="replace")


_PATIENCE_S = 45.0
"""Beyond the job's own length: ab gives a silent server 30 seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator:
    """``command`` states a job for the executable ``tool``; ``parse`` reads what came of it.

    Both may use the folder, which is also the generator's home: it is private and lasts for one run.
    """

    name: str
    tool: str
    command: Callable[[Job, Path], list[str]]
    parse: Callable[[Ended, Path], Seen]

    @property
    def is_installed(self) -> bool:
        """Whether it can be run here."""
        return shutil.which(self.tool) is not None


def run(generator: Generator, job: Job, pause: Pause | None = None) -> Seen:
    """Play ``job``. A generator that fails or hangs has seen nothing, and its note says so."""
    await_quiet(job.address)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = generator.command(job, folder)
        patience_s = job.seconds + (pause.for_s if pause else 0) + _PATIENCE_S
        ended = measure(command, core=job.core, patience_s=patience_s, pause=pause, environment={"HOME": name})
        if ended.timed_out:
            return Seen(cpu_s=ended.cpu_s, note=f"hung; killed after {patience_s:.0f} s")
        try:
            seen = generator.parse(ended, folder)
        except (NotUnderstoodError, OSError, LookupError, ValueError) as error:
            return Seen(cpu_s=ended.cpu_s, note=_ending(ended) or f"output not understood: {error!r}")
        return seen if seen.cpu_s is not None else replace(seen, cpu_s=ended.cpu_s)


def _ending(ended: Ended) -> str:
    """Return what a generator said when it failed: the last line, which names the cause in all of them."""
    if ended.status == 0:
        return ""
    lines = (ended.complaints.strip() or ended.output.strip()).splitlines()
    return f"exit status {ended.status}: {lines[-1].strip()[:100] if lines else 'no output'}"
