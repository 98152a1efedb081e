"""What errors of Python and of the system say, as it may stand in a sentence."""

from __future__ import annotations

__all__ = ["said_by"]


def said_by(error: BaseException, *, where: bool = False) -> str:
    """Return what ``error`` says without Python's own signs around it; with ``where`` also the file it was about.

    >>> said_by(FileNotFoundError(2, "No such file or directory", "a.har"))
    'No such file or directory'
    """
    if isinstance(error, UnicodeDecodeError):
        return "it is not text in UTF-8"
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    return f"{error.strerror}: {error.filename}" if where and error.filename is not None else error.strerror
