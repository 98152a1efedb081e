"""A worker of the cluster as a machine to race on: each step is a call to it."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Self, TypeVar

from ...base.errors import InputError, StackraceError
from ...base.process import Pending
from ...deploy.incident import Incident
from ...deploy.local_machine import LocalMachine
from ...deploy.machine import WARM_BIN_S, Enough, Launched, Retired
from ...measure.host import Disturbance, NetworkPath
from ...measure.launch import Failure
from ...measure.load import Load
from ...measure.workload import Workload
from ...race.request.request import RaceRequest
from ...stacks.stack import Stack
from ...validity.observation import Observation
from . import lease
from .connection import Connection, MemberLost
from .hosting import Hosted, Hosting, Order, open_race
from .members import Member
from .remote_engines import BinByBin, Engines

_T = TypeVar("_T")


class WorkerMachine:
    """The machine of ``member``, which hosts one race; a context manager that leaves nothing running there.

    ``engines`` on other machines send the load; without them, the machine's own engine does.
    """

    def __init__(self, connection: Connection, member: Member, engines: Engines | None = None) -> None:
        self.member = member
        self._connection = connection
        self._senders = engines
        self._token = secrets.token_hex(8)
        self._keepalive = lease.Keepalive(lambda: connection.call(member, lease.renew, self._token))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._keepalive.end()
        try:
            self._connection.call(self.member, lease.close, self._token)
        except StackraceError:
            # the member is lost, and its supervisor stops everything
            return

    def network(self) -> tuple[NetworkPath, ...]:
        """Return the measured network paths between engines and this machine; empty if it sends the load itself.

        Raises InputError for an engine that cannot reach this machine.
        """
        if self._senders is None:
            return ()
        self._senders.look_at_network(self.member)
        return self._senders.paths

    def open(self, request: RaceRequest, first: int | None = None) -> Hosted:
        """Prepare ``request`` there. Raises the errors of preparing it here, and MemberLost."""
        order = Order(request=request, first=first, host=None if self._senders is None else self.member.host)
        with naming(self.member):
            # preparing may take longer than a lease
            self._keepalive.begin()
            self._connection.call(self.member, open_race, self._token, order)
            return self._ask(Hosting.described)

    def calibrate(self, loads: Sequence[Load]) -> None:
        """Measure the rate that the engines reach at each of ``loads``."""
        if self._senders is None:
            self._do(LocalMachine.calibrate, loads)
        else:
            self._senders.calibrate(loads)

    def room_bytes(self) -> float:
        """Return the memory that is available there without swapping."""
        return self._do(LocalMachine.room_bytes)

    def launch(self, stack: Stack, timeout_s: float) -> Launched:
        """Start ``stack`` there; see ``Machine.launch``."""
        return self._do(LocalMachine.launch, stack, timeout_s)

    def rest(self, limit_s: float = math.inf) -> None:
        """Wait until the stacks there are at rest."""
        self._do(LocalMachine.rest, limit_s)

    def load(
        self,
        stack: Stack,
        workload: Workload,
        load: Load,
        rewarm_s: float,
        limit_s: float = math.inf,
        meanwhile: Incident | None = None,
    ) -> Observation:
        """Send ``load`` and observe the recorded part of it; see ``Machine.load``.

        Raises InputError for an incident: it needs the stack's processes, and a load that ends with it.
        """
        if meanwhile is not None:
            raise InputError("nothing can be made to happen to a cluster's stack under load; leave --cluster out")
        if self._senders is None:
            return self._do(LocalMachine.load, stack, workload, load, rewarm_s, limit_s)
        target = self._ask(Hosting.target, stack, workload)
        clock = self._connection.clock(self.member)
        with self._senders.playing(target, load, rewarm_s=rewarm_s) as run:
            begins_s = clock.to_remote(run.begun_s)
            watch = self._begin(Hosting.watch, stack, workload, load, rewarm_s, limit_s, begins_s)
            try:
                result = run.finish(run.begun_s + rewarm_s + limit_s)
                remote = replace(result, started_at=clock.to_remote(result.started_at))
                self._ask(Hosting.deliver, remote)
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
        """Send ``load``, unrecorded, until it is ``enough``; return the seconds spent."""
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
        """Measure how much of the stacks' cores other programs use there."""
        return self._do(LocalMachine.disturbance)

    def failure_of(self, stack: Stack) -> Failure | None:
        """Return the failure of ``stack`` if it died since its launch; None if it is well."""
        return self._do(LocalMachine.failure_of, stack)

    def retire(self, stacks: Sequence[Stack]) -> Pending[Retired]:
        """Begin to stop ``stacks``; others can start meanwhile."""
        return self._begin(Hosting.retired, self._ask(Hosting.retire, stacks))

    def _do(self, step: Callable[..., _T], *args: object) -> _T:
        done: _T = self._ask(Hosting.do, step, *args)
        return done

    def _ask(self, step: Callable[..., _T], *args: object) -> _T:
        return self._begin(step, *args).finish()

    def _begin(self, step: Callable[..., _T], *args: object) -> Pending[_T]:
        return self._connection.begin(self.member, lease.ask, self._token, step, args)


@contextmanager
def naming(member: Member) -> Iterator[None]:
    """Put the member's name before the message of an error that lacks it."""
    try:
        yield
    except MemberLost:
        raise
    except StackraceError as error:
        error.message = f"{member.name}: {error.message}"
        raise
