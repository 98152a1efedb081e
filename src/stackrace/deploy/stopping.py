"""Stops stacks so that nothing is left of them."""

from __future__ import annotations

import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from ..base.numbers import duration
from ..base.removal import remove_tree
from ..measure.launch import Failure, FailureKind
from .guard import Guard, Status
from .logs import tail
from .rendering import Part
from .running import Running

__all__ = ["stop"]

POLL_S = 0.05
"""Stacks mostly stop while others start, which a closer look would slow down."""
AGAIN_S = 2.0
"""A server may lose the request to end: workers may answer before their master listens to signals."""


@dataclass(slots=True)
class _Stopping:
    """A stack on its way down: ``ahead`` are the hops not yet told to end, the front one last.

    ``waiting`` are the processes of the hop that was told at ``begun_s``, and again at ``told_s``.
    """

    running: Running
    ahead: list[list[tuple[Part, int]]]
    waiting: list[tuple[Part, int]] = field(default_factory=list)
    begun_s: float = 0.0
    told_s: float = 0.0

    @property
    def over(self) -> bool:
        return not (self.ahead or self.waiting)

    def tell(self, guard: Guard) -> None:
        """Tell the next hop to end once all in front of it are gone."""
        if self.ahead and not self.waiting:
            self.waiting = self.ahead.pop()
            self.begun_s = time.monotonic()
            self._signal(guard, self.waiting)

    def look(self, guard: Guard, states: Mapping[int, Status]) -> Failure | None:
        """Let go of who has ended, tell the others again, and kill who takes too long; returns a complaint."""
        now_s = time.monotonic()
        self.waiting = [(part, pid) for part, pid in self.waiting if states[pid].family]
        if now_s - self.told_s > AGAIN_S:
            self._signal(guard, [(part, pid) for part, pid in self.waiting if states[pid].code is None])
        late = [(part, pid) for part, pid in self.waiting if now_s - self.begun_s >= part.recipe.stop_timeout_s]
        for _, pid in late:
            guard.kill(pid)
        self.waiting = [member for member in self.waiting if member not in late]
        return _unstopped(late[0][0], states[late[0][1]]) if late else None

    def _signal(self, guard: Guard, targets: Sequence[tuple[Part, int]]) -> None:
        self.told_s = time.monotonic()
        for part, pid in targets:
            guard.signal(pid, part.recipe.stop)


def stop(guard: Guard, runnings: Sequence[Running]) -> dict[str, Failure]:
    """Stop stacks side by side, front hops first; returns by stack path who had to be forced.

    No stack waits for another's hops. Afterwards no process of theirs lives and their directories are gone.
    """
    complaints: dict[str, Failure] = {}
    stopping = [_Stopping(running, _hops(running)) for running in runnings]
    while stopping:
        for descent in stopping:
            descent.tell(guard)
        states = guard.status([pid for descent in stopping for _, pid in descent.waiting])
        for descent in stopping:
            complaint = descent.look(guard, states)
            if complaint is not None:
                complaints[descent.running.stack.path] = complaint
        waiting = any(descent.waiting for descent in stopping)
        stopping = [descent for descent in stopping if not descent.over]
        if waiting:
            time.sleep(POLL_S)
    for running in runnings:
        remove_tree(running.directory)
        if running.group is not None:
            running.group.remove()
    return complaints


def _hops(running: Running) -> list[list[tuple[Part, int]]]:
    """Group the processes by hop, the last hop of the stack first; instances of a hop stop side by side."""
    return [list(copies) for _, copies in groupby(running.parts, key=lambda started: started[0].hop)]


def _unstopped(part: Part, status: Status) -> Failure:
    name = signal.Signals(part.recipe.stop).name
    who = "left processes behind" if status.code is not None else "did not end"
    return Failure(
        kind=FailureKind.NOT_STOPPED,
        message=f"{part.hop} {who} within {duration(part.recipe.stop_timeout_s)} of {name} and was killed",
        log=tail(part.site.directory),
    )
