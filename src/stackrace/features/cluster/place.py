"""A member of the cluster as a place to race on: each step is asked for there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ...base.errors import StackraceError
from ...base.process import Pending
from ...deploy.place import WARM_BIN_S, Enough, Launched, Retired
from ...measure.host import Disturbance
from ...measure.launch import Failure
from ...measure.load import Load
from ...measure.network import NetworkPath
from ...measure.workload import Workload
from ...race.request.request import RaceRequest
from ...stacks.stack import Stack
from ...validity import Observation
from .connection import Connection
from .engines import BinByBin, Engines
from .hosting import Hosted, Hosting, Order, open_race
from .lessee import Lessee
from .service_host import ServiceHost
from .settings import Member
from .shipping.parcel import Shipment
from .shipping.slots import unpacked

__all__ = ["WorkerPlace"]


class WorkerPlace(Lessee):
    """The machine of ``member``, which hosts one race.

    ``engines`` on other machines send the load; without any the engine there does. The app's ``services`` run on
    another machine, or there.
    """

    def __init__(
        self,
        connection: Connection,
        member: Member,
        engines: Engines | None = None,
        services: ServiceHost | None = None,
    ) -> None:
        super().__init__(connection, member)
        self._senders = engines
        self._services = services

    def network(self) -> tuple[NetworkPath, ...]:
        """Measure the ways between its engines and it; there are none where it sends the load itself.

        Raises InputError for an engine that does not get through, and where it does not to its services.
        """
        if self._services is not None:
            self._services.require_way_from(self.member)
        if self._senders is None:
            return ()
        self._senders.look_at_network(self.member)
        return self._senders.paths

    def open(self, request: RaceRequest, first: int | None = None, shipment: Shipment | None = None) -> Hosted:
        """Prepare ``request`` there, from ``shipment`` where that was sent.

        Raises InputError and its kin as preparing it here does, and MemberLost.
        """
        order = Order(
            request=request,
            first=first,
            host=None if self._senders is None else self.member.host,
            unpacked=None if shipment is None else partial(unpacked, shipment),
            services=None if self._services is None else self._services.start(),
        )
        try:
            with self._naming():
                self._take(open_race, order)
            if self._services is not None and self._ask(Hosting.filled):
                self._services.settle()
                self._ask(Hosting.settled)
            with self._naming():
                return self._ask(Hosting.described)
        except StackraceError:
            if self._services is not None:
                self._services.require()
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
        launched = self._ask(Hosting.launch, stack, timeout_s)
        if launched.failure is not None and self._services is not None:
            self._services.require()
        return launched

    def rest(self, limit_s: float = math.inf) -> None:
        """Let the stacks there come to rest."""
        self._ask(Hosting.rest, limit_s)

    def load(
        self, stack: Stack, workload: Workload, load: Load, rewarm_s: float, limit_s: float = math.inf
    ) -> Observation:
        """Send ``load`` and observe the recorded stretch of it; see ``Place.load``."""
        if self._senders is None:
            observation = self._ask(Hosting.load, stack, workload, load, rewarm_s, limit_s)
            begun_s = self._connection.clock(self.member).ours(observation.result.started_at)
        else:
            observation = self._sent(self._senders, stack, workload, load, rewarm_s, limit_s)
            begun_s = observation.result.started_at
        if self._services is None:
            return observation
        spent = self._services.spent(begun_s, begun_s + observation.result.duration_s)
        return replace(observation, services_apart=spent)

    def _sent(
        self, senders: Engines, stack: Stack, workload: Workload, load: Load, rewarm_s: float, limit_s: float
    ) -> Observation:
        target = self._ask(Hosting.target, stack, workload)
        clock = self._connection.clock(self.member)
        with senders.playing(target, load, rewarm_s=rewarm_s) as run:
            watch = self._begin(Hosting.watch, stack, workload, load, rewarm_s, limit_s, clock.there(run.begun_s))
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
            network=senders.paths,
        )

    def warm_up(self, stack: Stack, workload: Workload, load: Load, enough: Enough) -> float:
        """Send ``load``, unrecorded, until it is ``enough``; returns the seconds spent."""
        if self._senders is not None:
            target = self._ask(Hosting.target, stack, workload)
            return self._senders.warm_up(target, load, enough)
        warming = self._begin(Hosting.warm_up, stack, workload, load)
        warm = BinByBin(enough)
        while not warming.wait(WARM_BIN_S):
            if warm(self._ask(Hosting.warmth)):
                self._ask(Hosting.warm)
                break
        return warming.finish()

    def disturbance(self) -> Disturbance:
        """Look there what other programs have of the stacks' cores."""
        return self._ask(Hosting.disturbance)

    def failure_of(self, stack: Stack) -> Failure | None:
        """Tell whether ``stack`` died since it was launched."""
        return self._ask(Hosting.failure_of, stack)

    def retire(self, stacks: Sequence[Stack]) -> Pending[Retired]:
        """Begin to stop ``stacks``; others can start meanwhile."""
        return self._begin(Hosting.retired, self._ask(Hosting.retire, stacks))
