"""Processes that end before their caller goes on, with all that they started, whatever happens."""

from __future__ import annotations

import errno
import marshal
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TypeVar

from .held_signals import held
from .keeper import MOST_ENDING_S

__all__ = ["attended", "within"]

_T = TypeVar("_T")

_KEEPER = Path(__file__).with_name("keeper.py")


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
    begin: Callable[[], None] | None = None,
) -> _T:
    """Start ``command`` below a keeper and return what ``attend`` makes of that, which ends as the command does.

    Nothing that the command started is left afterwards, daemons included; not even when this process is killed.
    ``begin`` runs in the keeper first; the command may use the descriptors ``kept_open``. Raises OSError when it
    cannot be started.
    """
    (orders, lifeline), (answer, answers) = os.pipe(), os.pipe()
    # Ctrl-C within Popen would leave a process that nobody knows
    with held() as signals, os.fdopen(lifeline, "wb") as ordering, os.fdopen(answer, "rb") as answering:
        try:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_KEEPER), str(orders), str(answers)],
                cwd=folder,
                stdin=stdin,
                stdout=stdout,
                stderr=subprocess.STDOUT,
                pass_fds=(*kept_open, orders, answers),
                start_new_session=True,
                preexec_fn=begin,
            )
        finally:
            os.close(orders)
            os.close(answers)
        try:
            _order(command, environment, ordering, answering)
            try:
                signals.release()
                return attend(process)
            finally:
                signals.hold()
        finally:
            with suppress(BrokenPipeError):
                ordering.close()
            # the app may have stopped its keeper
            if within(2 * MOST_ENDING_S)(process) is None:
                process.kill()
                process.wait()
            if process.stdout:
                process.stdout.close()


def _order(
    command: Sequence[str], environment: Mapping[str, str] | None, ordering: IO[bytes], answering: IO[bytes]
) -> None:
    """Have the keeper start ``command``. Raises OSError as exec(3) does."""
    words = [os.fsencode(word) for word in command]
    block = None if environment is None else {os.fsencode(k): os.fsencode(v) for k, v in environment.items()}
    with suppress(BrokenPipeError):
        ordering.write(marshal.dumps((words, block)))
        ordering.flush()
    try:
        failed = marshal.load(answering)
    except EOFError:
        raise ChildProcessError(errno.ECHILD, "it was killed", command[0]) from None
    if failed:
        raise OSError(failed, os.strerror(failed), command[0])
