"""Workers that end while they load the app, and that their server would start again and again."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from .loading import TRACEBACK
from .logs import tail

__all__ = ["Workers"]

LIVES = 5
"""So many workers in a row, each started after another had ended, are no start. A cache that
compiles its configuration has three processes of its own for it, one after the other."""

ALIKE = 2
"""So many that ended, and so many tracebacks, are enough. Who replaces workers may take ten seconds for it: some
ask each of those that ended five seconds long whether it is well."""


class Workers:
    """The children of one server's first process that run its own program, watched from look to look.

    Children that run another program, as ``git describe`` in an app's settings, are none of its workers.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        # what number each is in a row of workers in one another's place
        self._alive: dict[int, int] = {}
        self._row = 0
        self._ended = 0

    def look(self, family: Iterable[int]) -> None:
        """Take note of who lives: ``family`` is the first process with all that came out of it."""
        living = set(family) - {self._pid}
        for pid in self._alive.keys() - living:
            self._ended += 1
            self._row = max(self._row, self._alive.pop(pid))
        own = _program(self._pid)
        for pid in living:
            program = _program(pid)
            if program and program != own:
                self._alive.pop(pid, None)
            elif program and _parent(pid) == self._pid:
                self._alive.setdefault(pid, self._row + 1)
            # else it is about to end: a process loses its program before it is gone

    def end_at_start(self, directory: Path) -> bool:
        """Tell whether the server, whose logs lie in ``directory``, has workers that cannot start."""
        if self._row >= LIVES:
            return True
        return self._ended >= ALIKE and tail(directory, lines=1000).count(TRACEBACK) >= ALIKE


def _program(pid: int) -> str:
    with suppress(OSError):
        return str(Path(f"/proc/{pid}/exe").readlink())
    return ""


def _parent(pid: int) -> int:
    """Return the parent's id, 0 where the process is gone. Source: proc_pid_stat(5)."""
    with suppress(OSError, IndexError, ValueError):
        return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])
    return 0
