"""Every error as a sentence, also those that nobody foresaw."""

from __future__ import annotations

import errno
import re

from ..base.errors import BreakdownError, InputError, StackraceError
from ..base.secrets import masked

__all__ = ["TRACEBACK", "brief", "failure_of"]

TRACEBACK = "STACKRACE_TRACEBACK"
"""The environment variable that has tracebacks printed."""

_NO_PATH = {errno.ENAMETOOLONG, errno.ELOOP}
_FULL = {errno.ENOSPC, errno.EDQUOT}
_LONGEST = 300
_LONG_WORD = re.compile(r"(\S{200})\S{100,}(\S{40})")


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
        case OSError() if error.errno in _NO_PATH:
            return InputError(f"{str(error.strerror).lower()}{_where(error)}; correct the path")
        case OSError() if error.strerror:
            return BreakdownError(f"{error.strerror}{_where(error)}; {_REPORT}")
        case _:
            said = masked(f"{type(error).__name__}: {error}")[:_LONGEST]
            return BreakdownError(f"Stackrace failed ({said}); {_REPORT}")


def brief(text: str) -> str:
    """Return ``text`` with the middle of long words left out: a value of pages would hide what to do about it."""
    return _LONG_WORD.sub(r"\1…\2", text)


_REPORT = f"please report this, with what it says when {TRACEBACK}=1 is set"


def _where(error: OSError) -> str:
    return "" if error.filename is None else f": {error.filename}"
