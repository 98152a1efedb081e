"""Reasons why a stack does not start: its logs, and workers that end while they load the app."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from ..base.process import Deadline
from ..base.process.processes import read_process
from .running_stack import tail

_TRACEBACK = "Traceback (most recent call last)"
_LONGEST = 300
_LINES = 1000
"""Number of lines to read of each log: a traceback, and the lines after it."""
_SETTLED_S = 0.1
"""Seconds until an unchanged cause is final, because tracebacks may be chained."""
_AWAITED_S = 5.0
"""Seconds that a server may take to log why it cannot load an app; for some exceptions it never does."""

_OTHER_BUILD = (
    "; the server has a Python of its own, older than the environment's: "
    "make the environment with the system's python3"
)
"""Explanation of a symbol that the environment's standard library misses in a server's embedded Python."""
_NO_PKG_RESOURCES = "; newer versions of setuptools lack it: install 'setuptools<81' in the app's environment"
_EXPLANATIONS = {"undefined symbol: _Py": _OTHER_BUILD, "No module named 'pkg_resources'": _NO_PKG_RESOURCES}
"""Hints to append to an exception, by a part of its message."""

_FOLLOW_UP = re.compile(
    r"populate\(\) isn't reentrant|Apps aren't loaded yet|partially initialized module|more than once per process"
    r"|only be initialized once|is already defined for this MetaData"
)
"""Errors of an app that is loaded again where loading it failed before, as some servers do at each request."""

_EXCEPTION = re.compile(r"(?:[a-z_]\w*\.)*[A-Z]\w*(?:: .*)?")
_RUBYS_EXCEPTION = re.compile(r"(?:': |error: )(.{1,500}) \(((?:[A-Z]\w*::)*[A-Z]\w*(?:Error|Exception))\)$")
"""First line of a Ruby traceback: ``config.ru:1:in `<main>': it is empty (KeyError)``."""


def has_logged(directory: Path, words: Sequence[str]) -> bool:
    """Tell whether a log below ``directory`` has any of ``words``."""
    log = tail(directory, lines=_LINES) if words else ""
    return any(word in log for word in words)


def cause(directory: Path) -> str:
    """Return the exception that the logs below ``directory`` end with, as ``KeyError: 'SHOP'``; empty for none."""
    lines = tail(directory, lines=_LINES).splitlines()
    said = _pythons(lines) or _ruby_exception(lines)
    return said + next((more for words, more in _EXPLANATIONS.items() if words in said), "")


def last_words(directory: Path) -> str:
    """Return why a server has ended, by the logs below ``directory``: their ``cause``, else their last line."""
    return cause(directory) or next(iter(reversed(tail(directory, lines=1).splitlines())), "")[:_LONGEST]


def awaited_cause(directory: Path, alive: Sequence[int] = ()) -> str:
    """Wait for the complete ``cause`` from a running server that logs it line by line, and return it.

    ``alive`` are the pids of the server.
    """
    deadline, heard = Deadline(_AWAITED_S, lambda: alive), ""
    while True:
        said = cause(directory)
        if (said and said == heard) or deadline.is_over:
            return said
        heard = said
        time.sleep(_SETTLED_S)


def _pythons(lines: Sequence[str]) -> str:
    """Return the last line of the last traceback, preferably of an Error: servers exit with their own exception.

    An exception that only loading again causes counts if nothing else went before it. Servers put time, process
    and client before each line of a traceback, so numbers differ from line to line.
    """
    last = ""
    for start in reversed([number for number, line in enumerate(lines) if _TRACEBACK in line]):
        prefix = re.sub(r"\d+", r"\\d+", re.escape(lines[start].partition(_TRACEBACK)[0]))
        texts = [re.sub(f"^{prefix}", "", line) for line in lines[start + 1 :]]
        for number, text in enumerate(texts):
            if _EXCEPTION.fullmatch(text):
                said, is_error = _joined(text, texts[number + 1 :]), text.partition(":")[0].endswith("Error")
                if is_error and not _FOLLOW_UP.search(said):
                    return said
                if is_error or not last or _FOLLOW_UP.search(last):
                    last = said
                break
    return last


def _ruby_exception(lines: Sequence[str]) -> str:
    for line in reversed(lines):
        exception = _RUBYS_EXCEPTION.search(line)
        if exception:
            return f"{exception[2]}: {exception[1]}"
    return ""


def _joined(text: str, following: Sequence[str]) -> str:
    """Return ``text`` with its continuation: a server that forwards a process's output may split it into lines."""
    for piece in following:
        if not (piece.startswith(": ") or text.endswith(": ")):
            break
        text += piece
    return text


_LIVES = 5
"""Number of successive workers, each started after another ended, that mean a failed start. A cache that
compiles its configuration has three processes for that, one after the other.
"""

_ALIKE = 2
"""Number of ended workers, and of tracebacks, that mean a failed start. Replacing workers may take ten seconds,
because some servers check an ended worker for five seconds.
"""


class Workers:
    """Child processes of one server's first process that run the same program, counted by repeated looks.

    Children that run another program, as ``git describe`` in an app's settings, are no workers.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        # by pid, the number of each worker in a row of replacements
        self._alive: dict[int, int] = {}
        self._row = 0
        self._ended = 0

    def look(self, alive: Iterable[int]) -> None:
        """Update the workers; ``alive`` is the first process with all its descendants."""
        living = set(alive) - {self._pid}
        for pid in self._alive.keys() - living:
            self._ended += 1
            self._row = max(self._row, self._alive.pop(pid))
        own = _executable_of(self._pid)
        for pid in living:
            program = _executable_of(pid)
            if program and program != own:
                self._alive.pop(pid, None)
            elif program and (process := read_process(pid)) and process.parent == self._pid:
                self._alive.setdefault(pid, self._row + 1)
            # a process without a program is about to end: it loses its program before it is gone

    def end_at_start(self, directory: Path) -> bool:
        """Tell whether the server with logs in ``directory`` has workers that cannot start."""
        if self._row >= _LIVES:
            return True
        return self._ended >= _ALIKE and tail(directory, lines=1000).count(_TRACEBACK) >= _ALIKE


def _executable_of(pid: int) -> str:
    with suppress(OSError):
        return str(Path(f"/proc/{pid}/exe").readlink())
    return ""
