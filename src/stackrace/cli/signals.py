"""Signals that end a verb as Ctrl-C does, and moments in which none may."""

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

_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_AGAIN_S = 0.01

_came: list[int] = []


def heed() -> None:
    """Treat SIGTERM and a closed terminal like Ctrl-C from now on, so that they, too, keep what was measured.

    What was ignored from the start, as SIGHUP is under nohup, stays so; but a parent that does not want to hear of
    its own children, or that blocks signals, did not mean ours.
    """
    terminals = [number for number in (1, 2) if os.isatty(number)]

    def interrupt(number: int, frame: object) -> None:
        _came.append(number)
        if number == signal.SIGHUP:
            _let_go(terminals)
        raise KeyboardInterrupt

    for number in _ENDS:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, interrupt)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    sys.unraisablehook = _unraisable


def _unraisable(lost: sys.UnraisableHookArgs) -> None:
    """Send Ctrl-C again where Python caught it in a callback, which can raise nothing, and would only print it."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        threading.Timer(_AGAIN_S, os.kill, [os.getpid(), signal.SIGINT]).start()
    else:
        sys.__unraisablehook__(lost)


def has_come() -> bool:
    """Tell whether a signal came that ends the verb; what compiles classes turns it into errors of its own."""
    return bool(_came)


def _let_go(terminals: Sequence[int]) -> None:
    """Have what is still said go nowhere where a terminal is gone: to write to it is an error, amid cleaning up."""
    for number in terminals:
        if not os.isatty(number):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, number)
            os.close(nowhere)


def leave_to_the_kernel() -> None:
    """Leave signals to the kernel: what is left to do is Python's own, which would print a traceback."""
    for number in _ENDS:
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)


def uncut(path: Path) -> AbstractContextManager[object]:
    """Keep signals back while ``path`` is written; what is no plain file may have a reader that never comes."""
    from ..base.process import held

    return held() if path.is_file() or not path.exists() else nullcontext()
