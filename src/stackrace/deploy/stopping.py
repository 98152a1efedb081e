"""Stops stacks so that nothing is left of them."""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Sequence

from ..model.launch import Failure, FailureKind
from .guard import Guard, Status
from .logs import tail
from .rendering import Part
from .running import Running

__all__ = ["stop"]

POLL_S = 0.02
AGAIN_S = 2.0
"""A server may lose the request to end: uWSGI's workers answer before its master listens to signals."""


def stop(guard: Guard, runnings: Sequence[Running]) -> dict[str, Failure]:
    """Stop stacks side by side, front hops first; returns by stack path who had to be forced.

    Afterwards no process of theirs lives and their directories are gone.
    """
    complaints: dict[str, Failure] = {}
    for depth in range(max((len(running.parts) for running in runnings), default=0)):
        batch = [
            (running, *running.parts[len(running.parts) - 1 - depth])
            for running in runnings
            if depth < len(running.parts)
        ]
        complaints |= _stop_batch(guard, batch)
    for running in runnings:
        shutil.rmtree(running.directory, ignore_errors=True)
        if running.group is not None:
            running.group.remove()
    return complaints


def _stop_batch(guard: Guard, batch: Sequence[tuple[Running, Part, int]]) -> dict[str, Failure]:
    begun = told = time.monotonic()
    for _, part, pid in batch:
        guard.signal(pid, part.recipe.stop)
    complaints: dict[str, Failure] = {}
    waiting = list(batch)
    while waiting:
        states = guard.status([pid for _, _, pid in waiting])
        over = time.monotonic() - begun
        again = time.monotonic() - told > AGAIN_S
        still = []
        for running, part, pid in waiting:
            if not states[pid].family:
                continue
            if over < part.recipe.stop_timeout_s:
                still.append((running, part, pid))
                if again and states[pid].code is None:
                    guard.signal(pid, part.recipe.stop)
                continue
            complaints[running.stack.path] = _unstopped(part, states[pid])
            guard.kill(pid)
        told = time.monotonic() if again else told
        waiting = still
        if waiting:
            time.sleep(POLL_S)
    return complaints


def _unstopped(part: Part, status: Status) -> Failure:
    name = signal.Signals(part.recipe.stop).name
    who = "left processes behind" if status.code is not None else "did not end"
    return Failure(
        kind=FailureKind.NOT_STOPPED,
        message=f"{part.hop} {who} within {part.recipe.stop_timeout_s:.0f} s of {name} and was killed",
        log=tail(part.site.directory),
    )
