"""A race that can begin: everything set up, its plan made, this machine looked at."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ...base.verdict import Finding
from ...deploy.place import Fleet, Place, RemoteEngine
from ...deploy.preparing import OnPreparing, Preparing, unheard
from ...stacks.stack import Stack
from ..plan import RacePlan
from ..request.request import RaceRequest
from ..twins import entrants
from .deployment import set_up
from .planning import plan_of
from .preflight import check_limits, refuse_early, wait_for_ports

__all__ = ["PreparedRace", "prepared"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedRace:
    """A race before its first launch."""

    request: RaceRequest
    plan: RacePlan
    place: Place | Fleet
    """Where its stacks run."""
    folder: Path | None
    """Where their run directories lie; None: on other machines."""
    left_out: tuple[Stack, ...]
    """Stacks for which the budget is too short."""
    warnings: tuple[Finding, ...]
    """What this machine is short of."""
    limit: tuple[str, ...] = ()
    """What was found to be the limit before the race, where that is no server; a sentence."""
    begun_s: float
    """The moment from which the budget counts, on CLOCK_MONOTONIC."""


@contextmanager
def prepared(
    request: RaceRequest,
    on_preparing: OnPreparing = unheard,
    *,
    first: int | None = None,
    remote: RemoteEngine | None = None,
) -> Iterator[PreparedRace]:
    """Prepare the race that ``request`` asks for, and leave nothing behind afterwards.

    ``first`` is how many of its stacks open it, where not all do. With ``remote`` engines are on other machines.
    Preparing counts against the budget, but for what only a first race needs. Raises InputError and its kin with
    the way out, as early as it is known.
    """
    begun_s = time.monotonic()
    refuse_early(request, first, remote_engine=remote is not None)
    stopwatch = _FirstRaceTimer(on_preparing)
    with set_up(request, stopwatch, remote=remote, bursts=True, all_named=first is not None) as deployment:
        plan = plan_of(request, deployment)
        waited_s = wait_for_ports(stopwatch)
        together = 1 if plan.race.repeats else first or len(entrants(plan))
        warnings = check_limits(
            plan.race.loads, plan.race.cores, folder=deployment.guard.directory, stacks=together
        )
        yield PreparedRace(
            request=request,
            plan=plan,
            warnings=warnings,
            place=deployment.place(),
            folder=deployment.guard.directory,
            left_out=deployment.left_out,
            limit=deployment.limit,
            begun_s=begun_s + waited_s + stopwatch.once_s(),
        )


class _FirstRaceTimer:
    """Takes the time of what only a first race needs, and passes on what it hears."""

    def __init__(self, on_preparing: OnPreparing) -> None:
        self._on_preparing = on_preparing
        self._once_s = 0.0
        self._since_s: float | None = None

    def __call__(self, preparing: Preparing) -> None:
        self._stop()
        if preparing.step.is_once:
            self._since_s = time.monotonic()
        self._on_preparing(preparing)

    def once_s(self) -> float:
        """Return the seconds it took so far."""
        self._stop()
        return self._once_s

    def _stop(self) -> None:
        if self._since_s is not None:
            self._once_s += time.monotonic() - self._since_s
            self._since_s = None
