"""Every error as a sentence, also those that nobody foresaw."""

from __future__ import annotations

import errno

from ..model.errors import BreakdownError, StackraceError

__all__ = ["TRACEBACK", "failure_of"]

TRACEBACK = "STACKRACE_TRACEBACK"
"""The environment variable that has tracebacks printed."""

_FULL = {errno.ENOSPC, errno.EDQUOT}
_LONGEST = 300


def failure_of(error: Exception) -> StackraceError:
    """Return ``error`` itself where it is one of ours, else the failure that it stands for."""
    match error:
        case StackraceError():
            return error
        case MemoryError():
            return BreakdownError(
                "the memory of this machine does not suffice; end other programs, or ask for less"
            )
        case RecursionError():
            return BreakdownError(f"what was given is nested too deeply; {_REPORT}")
        case OSError() if error.errno in _FULL:
            return BreakdownError(f"the disk is full{_where(error)}; free some space")
        case OSError() if error.strerror:
            return BreakdownError(f"{error.strerror}{_where(error)}; {_REPORT}")
        case _:
            said = f"{type(error).__name__}: {error}"[:_LONGEST]
            return BreakdownError(f"Stackrace failed ({said}); {_REPORT}")


_REPORT = f"please report this, with what it says when {TRACEBACK}=1 is set"


def _where(error: OSError) -> str:
    return "" if error.filename is None else f": {error.filename}"
