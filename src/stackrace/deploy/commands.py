"""Commands that run to their end before a race: what they said last is kept, and nothing of them is left."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..apps import leash

__all__ = ["CommandResult", "run"]

MOST_BYTES = 4000
POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command ended."""

    code: int
    """Its exit code, negative for a signal."""
    output: str
    """The last of its output, both streams in one."""


def run(command: Sequence[str], *, folder: Path, environment: Mapping[str, str], timeout_s: float) -> CommandResult:
    """Run ``command`` to its end, in a session of its own.

    Raises OSError when it cannot be started, subprocess.TimeoutExpired when it takes longer. After those, after
    Ctrl-C and after a failure, its children are ended as well.
    """
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=leash,
    )
    code: int | None = None
    try:
        output = _listen(process, time.monotonic() + timeout_s)
        code = process.returncode
    except TimeoutError:
        raise subprocess.TimeoutExpired(command, timeout_s) from None
    finally:
        if code != 0:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if process.stdout:
            process.stdout.close()
    return CommandResult(code, output)


def _listen(process: subprocess.Popen[bytes], deadline: float) -> str:
    """Read what ``process`` says until it has ended; a child that keeps the pipe open is not waited for."""
    assert process.stdout
    said = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            if selector.select(POLL_S):
                chunk = os.read(process.stdout.fileno(), 65536)
                said = (said + chunk)[-MOST_BYTES:]
                if not chunk:
                    break
            elif process.poll() is not None:
                break
            if time.monotonic() > deadline:
                raise TimeoutError
    try:
        process.wait(max(deadline - time.monotonic(), 0))
    except subprocess.TimeoutExpired:
        raise TimeoutError from None
    return said.decode("utf-8", "replace").strip()
