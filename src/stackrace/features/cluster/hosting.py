"""A race on this member: set up here, its stacks launched here; the coordinator asks for one step at a time.

It is leased: see ``leased``.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial

from ...base.errors import BreakdownError, StackraceError
from ...base.verdict import Finding
from ...deploy.app_files import Relocation
from ...deploy.local_place import LocalPlace
from ...deploy.place import Launched, Retired, Retiring
from ...measure.engine.running import EngineRun, Play, RunningEngine
from ...measure.host import Disturbance
from ...measure.launch import Failure
from ...measure.load import Load, LoadResult
from ...measure.workload import Workload
from ...race.preparation.prepared import PreparedRace, prepared
from ...race.preparation.process import Apart, ServicesApart
from ...race.request.request import RaceRequest
from ...race.results.race import Race, RacePlan
from ...stacks.stack import Stack
from ...validity import Observation
from .away import Away
from .leased import LOOK_S, Leased, take
from .shipping.moved import Abroad, moved_request

__all__ = ["Hosted", "Hosting", "Order", "Target", "open_race"]

Unpacked = Callable[[], AbstractContextManager[Relocation]]
"""Unpacks what was sent for a race, and keeps it until that is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a member is to prepare."""

    request: RaceRequest
    first: int | None = None
    """As in ``prepared``."""
    host: str | None = None
    """The address to which engines on other machines send load; None: the engine is here."""
    unpacked: Unpacked | None = None
    """Where the files are that ``request`` names, if they were sent."""
    services: Mapping[str, str] | None = None
    """The variables that lead to the app's services on another machine; None: they run here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosted:
    """What was prepared on a member, as far as it can be told to others."""

    plan: RacePlan
    race: Race
    left_out: tuple[Stack, ...]
    limit: tuple[str, ...]
    """As in ``PreparedRace``."""
    warnings: tuple[Finding, ...]
    place: str
    """Below which folder the project that was sent lies; empty where none was."""
    counted_s: float
    """How much of the budget preparing has spent, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a stack takes load from other machines, and which load."""

    address: tuple[str, int]
    workload: Workload
    """With the answers that are right by now."""


class Hosting(Leased[PreparedRace]):
    """One race that this member hosts."""

    def __init__(self, token: str, order: Order) -> None:
        super().__init__(token)
        self.abroad = Abroad()
        self._away: Away | None = None
        self._retiring: list[Retiring] = []
        self._warming = _Warming()
        self._filled = threading.Event()
        self._settled = threading.Event()
        self.begin(partial(self._prepared, order))

    @contextmanager
    def _prepared(self, order: Order) -> Iterator[PreparedRace]:
        request, beside = order.request, order.services
        apart = None if order.host is None else Apart(host=order.host, engine=self._begin_load)
        services = None if beside is None else ServicesApart(environment=beside, settle=self._settle)
        with nullcontext() if order.unpacked is None else order.unpacked() as relocation:
            if relocation is not None:
                self.abroad = Abroad(relocation)
                request = moved_request(request, relocation)
            with prepared(request, first=order.first, apart=apart, services=services) as ready:
                yield ready

    def described(self) -> Hosted:
        """Return what was prepared, once it is; raises what preparing raised."""
        ready = self.held
        place = self.abroad.relocation.place
        return Hosted(
            plan=replace(ready.plan, app=self.abroad.app(ready.plan.app)),
            race=self.abroad.race(ready.race),
            left_out=ready.left_out,
            limit=ready.limit,
            warnings=ready.warnings,
            place="" if place is None else str(place),
            counted_s=time.monotonic() - ready.begun_s,
        )

    @contextmanager
    def naming_originals(self) -> Iterator[None]:
        """Let errors name the user's own files, wherever they lie here."""
        try:
            yield
        except StackraceError as error:
            self.abroad.rename(error)
            raise

    def close(self) -> None:
        """Stop everything, and wait until it is gone."""
        if self._away is not None:
            self._away.deliver(None)
        super().close()

    def filled(self) -> bool:
        """Wait until services on another machine hold what the app put there; False where it comes not so far."""
        while not self._filled.wait(LOOK_S):
            if self._up.is_set():
                return False
        return True

    def settled(self) -> None:
        """Hear that those services have done their maintenance."""
        self._settled.set()

    def _settle(self) -> None:
        self._filled.set()
        while not self._settled.wait(LOOK_S):
            if self.is_ending:
                raise BreakdownError("the race was closed on this machine before its services were ready")

    def calibrate(self, loads: Sequence[Load]) -> None:
        """As ``Place.calibrate``."""
        self._place.calibrate(loads)

    def room_bytes(self) -> float:
        """As ``Place.room_bytes``."""
        return self._place.room_bytes()

    def launch(self, stack: Stack, timeout_s: float) -> Launched:
        """As ``Place.launch``."""
        return self.abroad.launched(self._place.launch(stack, timeout_s))

    def rest(self, limit_s: float) -> None:
        """As ``Place.rest``."""
        self._place.rest(limit_s)

    def load(self, stack: Stack, workload: Workload, load: Load, rewarm_s: float, limit_s: float) -> Observation:
        """As ``Place.load``, by the engine here."""
        return self._place.load(stack, workload, load, rewarm_s, limit_s)

    def target(self, stack: Stack, workload: Workload) -> Target:
        """Return what engines on other machines have to know."""
        address, now = self._place.target(stack, workload)
        return Target(address=address, workload=now)

    def watch(
        self, stack: Stack, workload: Workload, load: Load, rewarm_s: float, limit_s: float, begins_s: float
    ) -> Observation:
        """Watch a load that engines on other machines begin at ``begins_s`` on this machine's clock."""
        self._away = Away(begins_s)
        try:
            return self._place.load(stack, workload, load, rewarm_s, limit_s)
        finally:
            self._away = None

    def deliver(self, result: LoadResult | None) -> None:
        """Hear what those engines saw, in times of this machine's clock; None: they were lost."""
        if self._away is not None:
            self._away.deliver(result)

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

    def disturbance(self) -> Disturbance:
        """As ``Place.disturbance``."""
        return self._place.disturbance()

    def failure_of(self, stack: Stack) -> Failure | None:
        """As ``Place.failure_of``."""
        return self.abroad.failure(self._place.failure_of(stack))

    def retire(self, stacks: Sequence[Stack]) -> int:
        """As ``Place.retire``; returns the number by which ``retired`` knows them."""
        self._retiring.append(self._place.retire(stacks))
        return len(self._retiring) - 1

    def retired(self, number: int) -> Retired:
        """Wait until they are gone."""
        return self.abroad.retired(self._retiring[number].finish())

    @property
    def _place(self) -> LocalPlace:
        place = self.held.place
        assert isinstance(place, LocalPlace)
        return place

    def _begin_load(self, play: Play) -> EngineRun:
        return RunningEngine(play) if self._away is None else self._away


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
