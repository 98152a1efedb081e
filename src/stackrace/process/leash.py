"""Helpers of ours that run the app's code must not outlive us, even when we are killed."""

from __future__ import annotations

import ctypes
import signal

__all__ = ["leash"]

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


def leash() -> None:
    """Have the kernel end this process when its parent dies; for ``preexec_fn``, before any thread is started.

    Source: prctl(2) PR_SET_PDEATHSIG.
    """
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
