"""Signals that end a verb as Ctrl-C does, and moments in which they are held back."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# Windows has no SIGHUP
_HANGUP = getattr(signal, "SIGHUP", None)
_ENDS = (signal.SIGINT, signal.SIGTERM, *filter(None, [_HANGUP]))

_AGAIN_S = 0.01


def heed() -> None:
    """Treat SIGTERM and a closed terminal like Ctrl-C from now on, so that results are kept then, too.

    Signals that were ignored from the start, as SIGHUP is under nohup, stay ignored. But the parent's settings for
    SIGCHLD and for blocked signals are undone: they were not meant for us.
    """
    terminals = [number for number in (1, 2) if os.isatty(number)]

    def interrupt(number: int, frame: object) -> None:
        if number == _HANGUP:
            _let_go(terminals)
        raise KeyboardInterrupt

    for number in _ENDS:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, interrupt)
    if sys.platform != "win32":
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
    sys.unraisablehook = _unraisable


def _unraisable(lost: sys.UnraisableHookArgs) -> None:
    """Send Ctrl-C again if Python caught it in a callback, which can raise nothing and would only print it."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        threading.Timer(_AGAIN_S, os.kill, [os.getpid(), signal.SIGINT]).start()
    else:
        sys.__unraisablehook__(lost)


def _let_go(terminals: Sequence[int]) -> None:
    """Redirect output to /dev/null if its terminal is gone: writing to it would fail during the clean-up."""
    for number in terminals:
        if not os.isatty(number):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, number)
            os.close(nowhere)


def leave_to_the_kernel() -> None:
    """Leave signals to the kernel: only Python's own work is left, which would print a traceback."""
    for number in _ENDS:
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)


def uncut(path: Path) -> AbstractContextManager[object]:
    """Return a context that holds signals back while ``path`` is written, if it is a plain file."""
    from ..base.process import held

    return held() if path.is_file() or not path.exists() else nullcontext()
