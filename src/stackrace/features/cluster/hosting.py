"""A race on this worker: prepared and launched here, one step at a time, on the coordinator's request.

The race is held by a lease: see ``lease``.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

from ...base.errors import BreakdownError
from ...base.verdict import Finding
from ...deploy.local_machine import LocalMachine
from ...deploy.machine import RemoteEngine, Retired, Retiring
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
    """Request to a worker to prepare a race."""

    request: RaceRequest
    first: int | None = None
    """Number of stacks in the opening; None for all. See ``prepared``."""
    host: str | None = None
    """Address that engines on other machines send load to; None if the engine is here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosted:
    """Result of preparing on a worker, as far as it can be sent to others."""

    plan: RacePlan
    warnings: tuple[Finding, ...]
    """Same as in ``PreparedRace``."""
    counted_s: float
    """Seconds of the budget spent on preparing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Address and workload of a stack for engines on other machines."""

    address: tuple[str, int]
    workload: Workload
    """Workload with the current right answers."""


class Hosting(Lease[PreparedRace]):
    """One race that this worker hosts."""

    def __init__(self, token: str, order: Order) -> None:
        super().__init__(token)
        self._remote: _RemoteRun | None = None
        self._retiring: list[Retiring] = []
        self._warming = _Warming()
        remote = None if order.host is None else RemoteEngine(host=order.host, engine=self._begin_load)
        self.begin(lambda: prepared(order.request, first=order.first, remote=remote))

    def described(self) -> Hosted:
        """Return the result of preparing, once it is done; raises the exception of preparing."""
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
        """Return the result of ``step``, a method of the machine here."""
        return step(self._machine, *args)

    def target(self, stack: Stack, workload: Workload) -> Target:
        """Return the address and workload of ``stack`` for engines on other machines."""
        address, now = self._machine.target(stack, workload)
        return Target(address=address, workload=now)

    def watch(
        self, stack: Stack, workload: Workload, load: Load, rewarm_s: float, limit_s: float, begins_s: float
    ) -> Observation:
        """Observe a load that engines on other machines begin at ``begins_s`` on this machine's clock."""
        self._remote = _RemoteRun(begins_s)
        try:
            return self._machine.load(stack, workload, load, rewarm_s, limit_s)
        finally:
            self._remote = None

    def deliver(self, result: LoadResult | None) -> None:
        """Receive the result of those engines, in times of this machine's clock; None if they were lost."""
        if self._remote is not None:
            self._remote.deliver(result)

    def warm_up(self, stack: Stack, workload: Workload, load: Load) -> float:
        """Do the same as ``Machine.warm_up``, until the coordinator calls ``warm``."""
        try:
            return self._machine.warm_up(stack, workload, load, self._warming)
        finally:
            self._warming = _Warming()

    def warmth(self) -> Sequence[int]:
        """Return the right answers of the warm-up so far, in bins."""
        return self._warming.counts

    def warm(self) -> None:
        """End the warm-up: the stack is warm."""
        self._warming.enough = True

    def retire(self, stacks: Sequence[Stack]) -> int:
        """Begin to stop ``stacks``, as ``Machine.retire`` does; return a number for ``retired``."""
        self._retiring.append(self._machine.retire(stacks))
        return len(self._retiring) - 1

    def retired(self, number: int) -> Retired:
        """Wait until the stacks of that ``retire`` are gone; return its result."""
        return self._retiring[number].finish()

    @property
    def _machine(self) -> LocalMachine:
        machine = self.held.machine
        assert isinstance(machine, LocalMachine)
        return machine

    def _begin_load(self, play: Play) -> EngineRun:
        return RunningEngine(play) if self._remote is None else self._remote


class _RemoteRun:
    """A run of engines on other machines, which ends once their merged result is delivered.

    It is an ``EngineRun``. The coordinator gives all engines the same moment to begin, each by its own clock.
    """

    right = 0
    """Nothing: only the coordinator hears of answers before the end."""

    def __init__(self, begun_s: float) -> None:
        self.begun_s = begun_s
        self._over = threading.Event()
        self._result: LoadResult | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def deliver(self, result: LoadResult | None) -> None:
        """End the run with the engines' result; None if they were lost."""
        self._result = result
        self._over.set()

    def wait(self, until_s: float) -> bool:
        """Wait until ``until_s`` on CLOCK_MONOTONIC or the end; return True if it has ended."""
        return self._over.wait(min(max(until_s - time.monotonic(), 0.0), threading.TIMEOUT_MAX))

    def bins(self, bin_s: float) -> Iterator[Sequence[int]]:
        """Yield nothing: the coordinator reads the bins from the engines itself."""
        return iter(())

    def finish(self, until_s: float = float("inf")) -> LoadResult:
        """Return the delivered result. Raises BreakdownError if there is none."""
        if not self._over.wait(_ARRIVES_S) or self._result is None:
            raise BreakdownError("the engines on other machines were lost, and their result with them")
        return self._result


class _Warming:
    """An ``Enough`` whose answer the coordinator sets."""

    def __init__(self) -> None:
        self.counts: Sequence[int] = ()
        self.enough = False

    def __call__(self, counts: Sequence[int]) -> bool:
        self.counts = tuple(counts)
        return self.enough


def open_race(token: str, order: Order) -> None:
    """Begin to prepare ``order`` here; ``Hosting.described`` returns the result.

    Raises InputError if this machine takes part in another race.
    """
    take(lambda: Hosting(token, order))
