"""A member of the cluster as a place to race on: each step is asked for there."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from ..checks import Observation
from ..deploy.place import WARM_BIN_S, Enough, Launched, Retired
from ..model.cluster import Member
from ..model.errors import StackraceError
from ..model.launch import Failure
from ..model.load import Load
from ..model.network import NetworkPath
from ..model.stack import Stack
from ..model.workload import Workload
from ..process import Background
from ..spec.request import RaceRequest
from . import hosting
from .connection import Connection
from .engines import BinByBin, Engines
from .hosting import LEASE_S, Hosted, Hosting
from .lease import Lease
from .shipping.parcel import Shipment
from .shipping.slots import unpacked

__all__ = ["WorkerPlace"]

_T = TypeVar("_T")


class WorkerPlace:
    """The machine of ``member``, which hosts one race; a context manager that leaves nothing running there.

    ``engines`` on other machines send the load; without any the engine there does.
    """

    def __init__(self, connection: Connection, member: Member, engines: Engines | None = None) -> None:
        self.member = member
        self._connection = connection
        self._senders = engines
        self._token = secrets.token_hex(8)
        self._lease = Lease(lambda: connection.call(member, hosting.renew, self._token), every_s=LEASE_S / 10)

    def __enter__(self) -> WorkerPlace:
        return self

    def __exit__(self, *_: object) -> None:
        self._lease.end()
        try:
            self._connection.call(self.member, hosting.close, self._token)
        except StackraceError:
            # it is lost, and its supervisor stops everything
            return

    def network(self) -> tuple[NetworkPath, ...]:
        """Measure the ways between its engines and it; there are none where it sends the load itself.

        Raises InputError for an engine that does not get through.
        """
        if self._senders is None:
            return ()
        self._senders.look_at_network(self.member)
        return self._senders.paths

    def open(self, request: RaceRequest, first: int | None = None, shipment: Shipment | None = None) -> Hosted:
        """Prepare ``request`` there, from ``shipment`` where that was sent.

        Raises InputError and its kin as preparing it here does, and MemberLost.
        """
        host = None if self._senders is None else self.member.host
        # preparing may take longer than a lease
        self._lease.begin()
        sent = None if shipment is None else partial(unpacked, shipment)
        try:
            return self._connection.call(self.member, hosting.open_race, self._token, request, host, first, sent)
        except StackraceError as error:
            error.message = f"{self.member.name}: {error.message}"
            raise

    def calibrate(self, loads: Sequence[Load]) -> None:
        """Measure what the engines reach at each of ``loads``."""
        if self._senders is None:
            self._ask(Hosting.calibrate, loads)
        else:
            self._senders.calibrate(loads)

    def room_bytes(self) -> float:
        """Return the memory that could be had there without swapping."""
        return self._ask(Hosting.room_bytes)

    def launch(self, stack: Stack, timeout_s: float) -> Launched:
        """Start ``stack`` there; see ``Place.launch``."""
        return self._ask(Hosting.launch, stack, timeout_s)

    def rest(self, limit_s: float = math.inf) -> None:
        """Let the stacks there come to rest."""
        self._ask(Hosting.rest, limit_s)

    def load(
        self, stack: Stack, workload: Workload, load: Load, rewarm_s: float, limit_s: float = math.inf
    ) -> Observation:
        """Send ``load`` and observe the recorded stretch of it; see ``Place.load``."""
        if self._senders is None:
            return self._ask(Hosting.load, stack, workload, load, rewarm_s, limit_s)
        target = self._ask(Hosting.target, stack, workload)
        clock = self._connection.clock(self.member)
        with self._senders.playing(target, load, rewarm_s=rewarm_s) as run:
            watch = Background(
                lambda: self._ask(Hosting.watch, stack, workload, load, rewarm_s, limit_s, clock.there(run.begun_s))
            )
            try:
                result = run.finish(run.begun_s + rewarm_s + limit_s)
                there = replace(result, started_at=clock.there(result.started_at))
                self._ask(Hosting.deliver, there)
            except BaseException:
                self._ask(Hosting.deliver, None)
                raise
            observation = watch.finish()
        return replace(
            observation,
            result=result,
            ceiling_per_s=result.ceiling_per_s,
            generator_threads=run.threads,
            network=self._senders.paths,
        )

    def warm_up(self, stack: Stack, workload: Workload, load: Load, enough: Enough) -> float:
        """Send ``load``, unrecorded, until it is ``enough``; returns the seconds spent."""
        if self._senders is not None:
            target = self._ask(Hosting.target, stack, workload)
            return self._senders.warm_up(target, load, enough)
        warming = Background(lambda: self._ask(Hosting.warm_up, stack, workload, load))
        warm = BinByBin(enough)
        while not warming.wait(WARM_BIN_S):
            if warm(self._ask(Hosting.warmth)):
                self._ask(Hosting.warm)
                break
        return warming.finish()

    def failure_of(self, stack: Stack) -> Failure | None:
        """Tell whether ``stack`` died since it was launched."""
        return self._ask(Hosting.failure_of, stack)

    def retire(self, stacks: Sequence[Stack]) -> Background[Retired]:
        """Begin to stop ``stacks``; others can start meanwhile."""
        number = self._ask(Hosting.retire, stacks)
        return Background(lambda: self._ask(Hosting.retired, number))

    def _ask(self, step: Callable[..., _T], *args: object) -> _T:
        returned: _T = self._connection.call(self.member, hosting.ask, self._token, step, args)
        return returned
