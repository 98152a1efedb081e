"""A race on this member: set up here, its stacks launched here; the coordinator asks for one step at a time.

Everything that a race starts is a child of its supervisor, which ends it all when this worker dies. The coordinator
holds a lease: when it is not heard of for ``LEASE_S`` the race is closed from here.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from ..checks import Observation
from ..deploy.local_place import LocalPlace
from ..deploy.place import Launched, Retired, Retiring
from ..deploy.relocation import Relocation
from ..load.running import EngineRun, Play, RunningEngine
from ..model.errors import BreakdownError, InputError, StackraceError
from ..model.launch import Failure
from ..model.load import Load, LoadResult
from ..model.race import Race, RacePlan
from ..model.stack import Stack
from ..model.verdict import Finding
from ..model.workload import Workload
from ..setup.apart import Apart
from ..setup.prepared import PreparedRace, prepared
from ..spec.request import RaceRequest
from .away import Away
from .shipping.moved import Abroad, moved_request

__all__ = ["LEASE_S", "Hosted", "Target", "ask", "close", "open_race", "refuse_busy", "renew"]

LEASE_S = 20.0
"""Longer than a link is down for a moment, shorter than anybody would wait for an orphan to be gone."""
LOOK_S = 1.0
CLOSES_S = 60.0
"""How long stopping everything may take."""

Unpacked = Callable[[], AbstractContextManager[Relocation]]
"""Unpacks what was sent for a race, and keeps it until that is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosted:
    """What was prepared on a member, as far as it can be told to others."""

    plan: RacePlan
    race: Race
    left_out: tuple[Stack, ...]
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


class Hosting:
    """One race that this member hosts."""

    def __init__(
        self,
        token: str,
        request: RaceRequest,
        host: str | None,
        first: int | None,
        unpacked: Unpacked | None,
    ) -> None:
        self.token = token
        self.abroad = Abroad()
        self._renewed_s = time.monotonic()
        self._ends = threading.Event()
        self._up = threading.Event()
        self._over = threading.Event()
        self._ready: PreparedRace | None = None
        self._error: BaseException | None = None
        self._away: Away | None = None
        self._retiring: list[Retiring] = []
        self._warming = _Warming()
        apart = None if host is None else Apart(host=host, engine=self._begin_load)
        # a daemon: what it holds ends with the worker, by the supervisor's hand
        threading.Thread(target=self._hold, args=(request, first, apart, unpacked), daemon=True).start()

    def _hold(
        self, request: RaceRequest, first: int | None, apart: Apart | None, unpacked: Unpacked | None
    ) -> None:
        try:
            with ExitStack() as stack:
                if unpacked is not None:
                    self.abroad = Abroad(stack.enter_context(unpacked()))
                    request = moved_request(request, self.abroad.relocation)
                self._ready = stack.enter_context(prepared(request, first=first, apart=apart))
                self._up.set()
                while not self._ends.wait(LOOK_S) and time.monotonic() - self._renewed_s < LEASE_S:
                    pass
        except BaseException as error:
            self._error = error
        finally:
            self._ready = None
            self._up.set()
            self._over.set()

    @property
    def is_over(self) -> bool:
        """Whether nothing of it is left."""
        return self._over.is_set()

    def described(self) -> Hosted:
        """Return what was prepared, once it is; raises what preparing raised."""
        self._up.wait()
        ready = self._race
        place = self.abroad.relocation.place
        return Hosted(
            plan=replace(ready.plan, app=self.abroad.app(ready.plan.app)),
            race=self.abroad.race(ready.race),
            left_out=ready.left_out,
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

    def renew(self) -> None:
        """Hear that the coordinator is still there."""
        self._renewed_s = time.monotonic()

    def close(self) -> None:
        """Stop everything, and wait until it is gone."""
        self._ends.set()
        if self._away is not None:
            self._away.deliver(None)
        self._over.wait(CLOSES_S)

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
        place = self._race.place
        assert isinstance(place, LocalPlace)
        return place

    @property
    def _race(self) -> PreparedRace:
        if self._ready is None:
            raise self._error or BreakdownError("the race was closed on this machine, as its lease had run out")
        return self._ready

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


_hosting: Hosting | None = None
_lock = threading.Lock()


def open_race(
    token: str, request: RaceRequest, host: str | None, first: int | None, unpacked: Unpacked | None
) -> Hosted:
    """Prepare ``request`` here and return what came of it; with ``host`` engines on others send load to there.

    With ``unpacked`` the files that ``request`` names were sent, and are where that says, for as long as the race.
    A machine hosts one race at a time: two would measure each other. Raises InputError for a second, and what
    preparing raises.
    """
    global _hosting
    with _lock:
        refuse_busy()
        _hosting = Hosting(token, request, host, first, unpacked)
        mine = _hosting
    with mine.naming_originals():
        return mine.described()


def refuse_busy() -> None:
    """Raise InputError while a race is hosted here."""
    if _hosting is not None and not _hosting.is_over:
        raise InputError("this machine hosts another race; wait for its end, or leave the machine out")


def renew(token: str) -> None:
    """Renew the lease of the race; raises BreakdownError where there is none any more."""
    _own(token).renew()


def ask(token: str, step: Callable[..., Any], args: Sequence[object]) -> Any:
    """Return what ``step``, a method of ``Hosting``, returns for the race of that token."""
    mine = _own(token)
    mine.renew()
    with mine.naming_originals():
        return step(mine, *args)


def close(token: str) -> None:
    """Stop the race of that token, and wait until nothing of it is left; nothing happens where there is none."""
    with _lock:
        mine = _hosting
    if mine is not None and mine.token == token:
        mine.close()


def _own(token: str) -> Hosting:
    with _lock:
        mine = _hosting
    if mine is None or mine.token != token or mine.is_over:
        raise BreakdownError("the race is not on this machine any more: its worker began anew, or was not heard")
    return mine
