"""A race on this worker: prepared here, its stacks launched here; the coordinator asks for one step at a time.

It is leased: see ``lease``.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

from ...base.errors import BreakdownError
from ...base.verdict import Finding
from ...deploy.local_place import LocalPlace
from ...deploy.place import RemoteEngine, Retired, Retiring
from ...measure.engine.engine import EngineRun, Play, RunningEngine
from ...measure.load import Load, LoadResult
from ...measure.workload import Workload
from ...race.plan import RacePlan
from ...race.preparation.prepared import PreparedRace, prepared
from ...race.request.request import RaceRequest
from ...stacks.stack import Stack
from ...validity.observation import Observation
from .lease import Lease, take

_ARRIVES_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a worker is to prepare."""

    request: RaceRequest
    first: int | None = None
    """As in ``prepared``."""
    host: str | None = None
    """The address to which engines on other machines send load; None: the engine is here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosted:
    """What was prepared on a worker, as far as it can be told to others."""

    plan: RacePlan
    warnings: tuple[Finding, ...]
    """As in ``PreparedRace``."""
    counted_s: float
    """How much of the budget preparing has spent, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a stack takes load from other machines, and which load."""

    address: tuple[str, int]
    workload: Workload
    """With the answers that are right by now."""


class Hosting(Lease[PreparedRace]):
    """One race that this worker hosts."""

    def __init__(self, token: str, order: Order) -> None:
        super().__init__(token)
        self._remote: RemoteRun | None = None
        self._retiring: list[Retiring] = []
        self._warming = _Warming()
        remote = None if order.host is None else RemoteEngine(host=order.host, engine=self._begin_load)
        self.begin(lambda: prepared(order.request, first=order.first, remote=remote))

    def described(self) -> Hosted:
        """Return what was prepared, once it is; raises what preparing raised."""
        ready = self.held
        return Hosted(
            plan=ready.plan,
            warnings=ready.warnings,
            counted_s=time.monotonic() - ready.begun_s,
        )

    def close(self) -> None:
        """Stop everything, and wait until it is gone."""
        if self._remote is not None:
            self._remote.deliver(None)
        super().close()

    def do(self, step: Callable[..., Any], *args: object) -> Any:
        """Return what ``step``, a method of the place here, returns."""
        return step(self._place, *args)

    def target(self, stack: Stack, workload: Workload) -> Target:
        """Return what engines on other machines have to know."""
        address, now = self._place.target(stack, workload)
        return Target(address=address, workload=now)

    def watch(
        self, stack: Stack, workload: Workload, load: Load, rewarm_s: float, limit_s: float, begins_s: float
    ) -> Observation:
        """Watch a load that engines on other machines begin at ``begins_s`` on this machine's clock."""
        self._remote = RemoteRun(begins_s)
        try:
            return self._place.load(stack, workload, load, rewarm_s, limit_s)
        finally:
            self._remote = None

    def deliver(self, result: LoadResult | None) -> None:
        """Hear what those engines saw, in times of this machine's clock; None: they were lost."""
        if self._remote is not None:
            self._remote.deliver(result)

    def warm_up(self, stack: Stack, workload: Workload, load: Load) -> float:
        """As ``Place.warm_up``; whether it is enough the coordinator says by ``warm``."""
        try:
            return self._place.warm_up(stack, workload, load, self._warming)
        finally:
            self._warming = _Warming()

    def warmth(self) -> Sequence[int]:
        """Return the right answers of the warm-up so far, in bins."""
        return self._warming.counts

    def warm(self) -> None:
        """Hear that the stack is warm."""
        self._warming.enough = True

    def retire(self, stacks: Sequence[Stack]) -> int:
        """As ``Place.retire``; returns the number by which ``retired`` knows them."""
        self._retiring.append(self._place.retire(stacks))
        return len(self._retiring) - 1

    def retired(self, number: int) -> Retired:
        """Wait until they are gone."""
        return self._retiring[number].finish()

    @property
    def _place(self) -> LocalPlace:
        place = self.held.place
        assert isinstance(place, LocalPlace)
        return place

    def _begin_load(self, play: Play) -> EngineRun:
        return RunningEngine(play) if self._remote is None else self._remote


class RemoteRun:
    """A run of engines on other machines: it is over once their merged result is delivered.

    It is an ``EngineRun``. The coordinator gives all the same moment to begin, each by its own clock.
    """

    def __init__(self, begun_s: float) -> None:
        self.begun_s = begun_s
        self._over = threading.Event()
        self._result: LoadResult | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def deliver(self, result: LoadResult | None) -> None:
        """End it with what the engines saw; None: they were lost."""
        self._result = result
        self._over.set()

    def wait(self, until_s: float) -> bool:
        """Wait until ``until_s`` on CLOCK_MONOTONIC or the end; tells whether it has ended."""
        return self._over.wait(min(max(until_s - time.monotonic(), 0.0), threading.TIMEOUT_MAX))

    def bins(self, bin_s: float) -> Iterator[Sequence[int]]:
        """Yield nothing: who warms up from other machines looks at them."""
        return iter(())

    def finish(self, until_s: float = float("inf")) -> LoadResult:
        """Return the result that was delivered. Raises BreakdownError where none comes."""
        if not self._over.wait(_ARRIVES_S) or self._result is None:
            raise BreakdownError("the engines on other machines were lost, and their result with them")
        return self._result


class _Warming:
    """Tells by somebody else's word whether a stack is warm; an ``Enough``."""

    def __init__(self) -> None:
        self.counts: Sequence[int] = ()
        self.enough = False

    def __call__(self, counts: Sequence[int]) -> bool:
        self.counts = tuple(counts)
        return self.enough


def open_race(token: str, order: Order) -> None:
    """Begin to prepare ``order`` here; ``Hosting.described`` tells what came of it.

    Raises InputError where this machine has a part in another race.
    """
    take(lambda: Hosting(token, order))
