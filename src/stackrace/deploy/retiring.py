"""Stacks on their way down, while their place is free for others."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from ..model.launch import MemorySample
from .guard import Guard
from .inspection import Inspection
from .place import Retired
from .running import Running
from .sockets import listeners
from .stopping import stop

__all__ = ["Leaver", "Leaving"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaver:
    """A stack that is to stop, and what was seen of it while it was up."""

    running: Running
    inspection: Inspection
    memory: Sequence[MemorySample]

    @property
    def path(self) -> str:
        """The stack's path."""
        return self.running.stack.path


class Leaving:
    """Stops stacks in a thread of its own, so that others can start meanwhile."""

    def __init__(self, guard: Guard, leavers: Sequence[Leaver]) -> None:
        self._guard = guard
        self._leavers = leavers
        self._retired = Retired()
        self._error: BaseException | None = None
        # an event: join() that Ctrl-C interrupts takes the thread for ended before Python 3.13 (bpo-46726)
        self._over = threading.Event()
        threading.Thread(target=self._run).start()

    def finish(self) -> Retired:
        """Wait until all are gone, as often as it is called; raises what went wrong."""
        self._over.wait()
        if self._error is not None:
            raise self._error
        return self._retired

    def _run(self) -> None:
        try:
            self._retired = self._stop()
        except BaseException as error:
            self._error = error
        finally:
            self._over.set()

    def _stop(self) -> Retired:
        begun_s = time.monotonic()
        complaints = stop(self._guard, [leaver.running for leaver in self._leavers])
        listening = listeners()
        return Retired(
            memory={leaver.path: tuple(leaver.memory) for leaver in self._leavers},
            complaints=complaints,
            aftermaths={
                leaver.path: leaver.inspection.afterwards(self._guard, leaver.running, listening)
                for leaver in self._leavers
            },
            took_s=time.monotonic() - begun_s,
        )
