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

__all__ = ["BackgroundStop", "StoppingStack"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppingStack:
    """A stack that is to stop, and what was seen of it while it was up."""

    running: Running
    inspection: Inspection
    memory: Sequence[MemorySample]

    @property
    def path(self) -> str:
        """The stack's path."""
        return self.running.stack.path


class BackgroundStop:
    """Stops stacks in a thread of its own, so that others can start meanwhile."""

    def __init__(self, guard: Guard, stacks: Sequence[StoppingStack]) -> None:
        self._guard = guard
        self._stacks = stacks
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
        complaints = stop(self._guard, [stack.running for stack in self._stacks])
        listening = listeners()
        return Retired(
            memory={stack.path: tuple(stack.memory) for stack in self._stacks},
            complaints=complaints,
            aftermaths={
                stack.path: stack.inspection.afterwards(self._guard, stack.running, listening)
                for stack in self._stacks
            },
            took_s=time.monotonic() - begun_s,
        )
