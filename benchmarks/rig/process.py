"""Runs a generator as a process of its own, and accounts for exactly that process.

CPU comes from wait4, which tells of the one process waited for: other children do not blur it.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


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
