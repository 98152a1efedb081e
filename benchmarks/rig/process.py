"""Runs a generator as a process of its own, and accounts for exactly that process.

CPU comes from wait4, which tells of the one process waited for: other children do not blur it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Ended", "Pause", "measure"]


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
    """Sleep in coarse steps: whoever watches a benchmark must not take part in it."""
    ended = False
    timed_out = False
    deadline = time.monotonic() + patience_s
    try:
        if pause is not None:
            time.sleep(pause.after_s)
            process.send_signal(signal.SIGSTOP)
            time.sleep(pause.for_s)
            process.send_signal(signal.SIGCONT)
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                ended = True
                process.returncode = os.waitstatus_to_exitcode(status)
                return process.returncode, usage.ru_utime + usage.ru_stime, timed_out
            if not timed_out and time.monotonic() > deadline:
                timed_out = True
                process.kill()
            time.sleep(0.05)
    finally:
        if not ended:
            process.kill()
            process.wait()


def _text(file: int) -> str:
    return Path(f"/proc/self/fd/{file}").read_text(encoding="utf-8", errors="replace")
