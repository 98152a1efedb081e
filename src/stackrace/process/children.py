"""Processes that end before their caller goes on, whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TypeVar

from .held_signals import held
from .leash import leash

__all__ = ["attended", "within"]

_T = TypeVar("_T")


def within(timeout_s: float) -> Callable[[subprocess.Popen[bytes]], int | None]:
    """Attend by waiting for the exit code; None when that takes longer."""

    def wait(process: subprocess.Popen[bytes]) -> int | None:
        try:
            return process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    return wait


def attended(
    command: Sequence[str],
    attend: Callable[[subprocess.Popen[bytes]], _T],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: IO[bytes] | int = subprocess.DEVNULL,
    stdout: IO[bytes] | int = subprocess.DEVNULL,
    kept_open: Sequence[int] = (),
    begin: Callable[[], None] = leash,
    spare: bool = False,
) -> _T:
    """Start ``command`` in a session of its own, return what ``attend`` makes of it, and end the whole session.

    ``begin`` runs in the new process first; it may use the descriptors ``kept_open``. With ``spare``, what a
    command started lives on if it succeeded. Raises OSError when it cannot be started.
    """
    # Ctrl-C within Popen would leave a process that nobody knows
    with held() as signals:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.STDOUT,
            pass_fds=kept_open,
            start_new_session=True,
            preexec_fn=begin,
        )
        try:
            try:
                signals.release()
                return attend(process)
            finally:
                signals.hold()
        finally:
            if not spare or process.poll() != 0:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if process.stdout:
                process.stdout.close()
