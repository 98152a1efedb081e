"""A race that is ready to start: everything set up, its plan made, here or on a feature's machines."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Generic, Protocol, TypeVar, cast

from ... import __version__
from ...app.app import EntryKind
from ...app.bundle import is_bundled
from ...app.revision import source_of
from ...base import ids
from ...base.errors import InputError, RepositoryError
from ...base.secrets import keep_words
from ...base.verdict import Finding
from ...deploy.machine import Machine, RemoteEngine
from ...deploy.preparing import OnPreparing, Preparing, Step, ignore_step
from ...extensions import MachineProvider, declared, load
from ...measure.load import Load
from ...measure.probe import network_limits
from ...measure.workload import RightAnswers
from ...validity.preflight import MOST_IN_TIME_WAIT, TIME_WAIT_S
from ...validity.registry import check_limits
from ..events import Sink
from ..pacing.overhead import expected_overhead
from ..pacing.pace import USUAL_LENGTHS, fixed_lengths
from ..pacing.schedule import Extent, least_budget_s, too_short
from ..plan import RacePlan
from ..request.request import RaceRequest
from ..results.parts import Parts
from ..results.race import Race
from ..run.lanes import MakeLanes, OneLane
from ..run.scheduling import FOR_THE_WINNER, Scheduling
from ..run.twins import first_stacks
from .choosing import FEWEST, unserved
from .core_shares import cores_of, usable_cores
from .defaults import budget_s_of, levels_of
from .set_up import Deployment, set_up


def plan_of(request: RaceRequest, deployment: Deployment) -> RacePlan:
    """Return the plan of the race, with the race as stored before its first launch.

    Raises InputError if the length of runs is missing for some concurrency.
    """
    from ...measure.probe import host_facts

    app, current = deployment.examined.project, deployment.current
    keep_words(
        [*(stack.path for stack in deployment.stacks), *(workload.name for workload in deployment.workloads)]
    )
    asked = {workload.name: _asked_urls(request, workload.name) for workload in deployment.workloads}
    source, notes = None, deployment.notes
    try:
        source = None if is_bundled(app) else source_of(request.folder)
    except RepositoryError as error:
        # git refuses to read the folder
        notes += (f"The race is kept without its commit: {error.message}.",)
    first = deployment.workloads[0]
    race = Race(
        id=ids.generate(),
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        version=__version__,
        app=app.name,
        entry="" if is_bundled(app) or app.entry.kind is EntryKind.FILES else app.entry.target,
        urls=() if first.name else asked[""] or tuple(request.path for request in first.requests),
        stacks=tuple(stack.path for stack in deployment.stacks),
        loads=tuple(_load(request, level) for level in deployment.levels),
        question=request.question,
        difference=request.difference,
        budget_s=budget_s_of(request) or 0.0,
        cores=deployment.cores,
        seed=random.SystemRandom().randrange(2**32) if request.seed is None else request.seed,
        host=host_facts(),
        notes=notes,
        left_out=deployment.unready,
        workloads=asked if first.name else {},
        repeats=request.repeats,
        limits={name: paths for name, paths in deployment.limits.items() if name in asked},
        exhaustive=request.exhaustive,
        checks={name: check for name in asked if (check := _check(request, name))},
        source=source,
        current=current.stack.path if current is not None and current.stack is not None else "",
        parts=Parts() if current is None else Parts().having(current.part),
        unserved=unserved(deployment.stacks, deployment.examined),
    )
    return RacePlan(
        race=race,
        app=app,
        workloads=deployment.workloads,
        stacks=deployment.stacks,
        slice_s=request.slice_s,
        twin=request.twin,
        loading=deployment.examined.loading,
        start_cores=len(usable_cores()),
        gives_up=request.give_up,
        left_out=deployment.left_out,
        limit=deployment.limit,
    )


def _load(request: RaceRequest, level: int) -> Load:
    load = Load(
        concurrency=level,
        keep_alive=request.keep_alive,
        timeout_s=request.timeout_s,
        silent=request.silent,
        idle=request.idle,
    )
    if request.repeats is None:
        return load
    requests = request.run_requests_at.get(level, request.run_requests)
    if requests is None and request.run_s is None:
        raise InputError(
            f"how long is a run at {level} connections? Give --requests or --duration, or in a race file "
            f'[load] requests = {{ "{level}" = 500 }}'
        )
    return replace(load, requests=requests, duration_s=request.run_s if requests is None else None)


def _asked_urls(request: RaceRequest, name: str) -> tuple[str, ...]:
    """Return the URLs of a workload, or the ``file:`` URL of its recording; empty if the examination chose the
    pages.

    An empty name means the only workload, whatever the race file calls it.
    """
    for workload in request.workloads:
        if not name or workload.name == name:
            return _recording_url(workload.session) if workload.session is not None else workload.urls
    return _recording_url(request.session) if request.session is not None else ()


def _check(request: RaceRequest, name: str) -> RightAnswers:
    for workload in request.workloads:
        if not name or workload.name == name:
            return workload.check
    return request.check


def _recording_url(session: Path) -> tuple[str, ...]:
    return (session.absolute().as_uri(),)


_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterMachine:
    """A machine of a cluster."""

    name: str
    roles: tuple[str, ...]
    """Roles of the machine in the race."""
    host: str
    """Network address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminedMachines(Generic[_T]):
    """Results of examining the machines."""

    conflicts: tuple[str, ...]
    """Reasons why the machines do not fit together, each with the way out; they prevent a race."""
    examined: tuple[tuple[ClusterMachine, _T | None], ...]
    """Machines by name with their results; None if a machine could not be examined, see ``conflicts``."""


class MachineSource(Protocol):
    """Machines elsewhere, offered by a `MachineProvider`."""

    def prepared(
        self, request: RaceRequest, on_preparing: OnPreparing, *, first: int | None = None
    ) -> AbstractContextManager[PreparedRace]:
        """Prepare the race of ``request`` on those machines, as `prepared` does on this one."""

    def examined(self, address: str, concurrency: int, examine: Callable[[int, bool], _T]) -> ExaminedMachines[_T]:
        """Call ``examine`` on all machines at once, with the connections that each has to hold in a race.

        Its second argument is True if stacks and load engines are on different machines.
        """


def is_elsewhere(request: RaceRequest) -> bool:
    """Return True if ``request`` is for machines other than this one."""
    return any(part.is_elsewhere for part in request.asked_parts)


def machine_source() -> MachineSource:
    """Return the source of the machines that ``[race] cluster`` names. Raises InputError if no installed feature
    provides machines."""
    for provider in declared(MachineProvider):
        # Dask takes a second to import
        return cast(MachineSource, load(provider.import_path)())
    raise InputError("--cluster ([race] cluster): no feature that is installed here knows of clusters")


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedRace:
    """A race before its first launch, with its rules for decisions and its listeners."""

    request: RaceRequest
    plan: RacePlan
    machine: Machine
    """Machine where the stacks run; the first one if there are several."""
    lanes: MakeLanes = OneLane
    """Function that makes the lanes of the race; a race on other machines has another one."""
    folder: Path | None
    """Folder with the run directories; None if they are on other machines."""
    warnings: tuple[Finding, ...] = ()
    """Limits of this machine that may be too low."""
    begun_s: float
    """Moment from which the budget counts, on CLOCK_MONOTONIC."""
    scheduling: Scheduling = FOR_THE_WINNER
    """Rules that say who races next, and when the race ends."""
    keeper: Sink | None = None
    """Listener that stores the race, before other listeners get an event; None if it is not kept."""
    foretold: tuple[str, ...] = ()
    """Forecasts for the race, one sentence each; none for a resumed race."""

    def having(self, race: Race) -> PreparedRace:
        """Return this prepared race with ``race`` as its record."""
        return replace(self, plan=replace(self.plan, race=race))


@contextmanager
def prepared(
    request: RaceRequest,
    on_preparing: OnPreparing = ignore_step,
    *,
    first: int | None = None,
    remote: RemoteEngine | None = None,
) -> Iterator[PreparedRace]:
    """Prepare the race of ``request``, yield it, and clean everything up afterwards.

    ``first`` is the number of stacks that a tuning starts with; None for other races. With ``remote``, load engines
    run on other machines. Preparing counts against the budget, except for steps that only a first race needs.
    Raises InputError, or another StackraceError, that says what to do, as early as possible.
    """
    begun_s = time.monotonic()
    _refuse_early(request, first, remote_engine=remote is not None)
    stopwatch = _FirstRaceTimer(on_preparing)
    with set_up(request, stopwatch, remote=remote, bursts=True, all_named=first is not None) as deployment:
        plan = plan_of(request, deployment)
        waited_s = wait_for_ports(stopwatch)
        together = 1 if plan.race.repeats else first or len(first_stacks(plan))
        warnings = check_limits(
            plan.race.loads, plan.race.cores, folder=deployment.guard.directory, stacks=together
        )
        yield PreparedRace(
            request=request,
            plan=plan,
            warnings=warnings,
            machine=deployment.machine(),
            folder=deployment.guard.directory,
            begun_s=begun_s + waited_s + stopwatch.once_s(),
        )


class _FirstRaceTimer:
    """Listener that measures the time of steps that only a first race needs, and passes all steps on."""

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
        """Return the seconds spent so far on steps that only a first race needs."""
        self._stop()
        return self._once_s

    def _stop(self) -> None:
        if self._since_s is not None:
            self._once_s += time.monotonic() - self._since_s
            self._since_s = None


_LOOK_S = 1.0


def _refuse_early(request: RaceRequest, first: int | None = None, *, remote_engine: bool = False) -> None:
    """Raise InputError for requests that no race here could satisfy.

    Limits that depend on the app, its services, or on ready stacks, are checked later. If time is short, fewer
    stacks may race, at one level unless more were requested. ``first`` is the number of stacks that a tuning starts
    with, at its only level; None for other races. With ``remote_engine``, the load comes from other machines.
    """
    if remote_engine and (request.silent or request.idle):
        # remote engines start by themselves, without waiting for these connections
        raise InputError(
            "--silent and --idle ([load] silent, idle) are held by the machine that sends the load; leave them out "
            "where load engines are on other machines"
        )
    levels = levels_of(request)
    stacks = first or (FEWEST if request.stacks is None else len(request.stacks))
    # the length of runs is asked for later
    loads = tuple(_load(replace(request, repeats=None), level) for level in levels)
    check_limits(loads, cores_of(request, remote_engine=remote_engine))
    budget_s = budget_s_of(request)
    if (
        stacks
        and budget_s
        and request.repeats is None
        and all(workload.stacks is None for workload in request.workloads)
    ):
        fewest = stacks if first or request.exhaustive or request.workloads else min(stacks, FEWEST)
        at_least = len(levels) if request.concurrency or request.exhaustive else 1
        _refuse_short(request, budget_s, fewest, 1 if first else at_least)


def _refuse_short(request: RaceRequest, budget_s: float, stacks: int, levels: int) -> None:
    """Raise InputError for a budget too short for a single block, even if all stacks start as fast as usual."""
    workloads, twin = max(len(request.workloads), 1), request.twin and stacks > 1
    racing = stacks + twin
    ahead = Extent(stacks=racing, headline=racing, sides=racing * (levels * workloads - 1))
    lengths = USUAL_LENGTHS if request.slice_s is None else fixed_lengths(request.slice_s)
    least_s = least_budget_s(ahead, expected_overhead(budget_s, stacks), lengths)
    if budget_s < least_s:
        raise too_short(budget_s, least_s, stacks=stacks, workloads=workloads, levels=levels, twin=twin)


def wait_for_ports(on_preparing: OnPreparing) -> float:
    """Wait while closed connections hold most ports, at most about ``TIME_WAIT_S``; return the seconds waited.

    If the kernel reuses such ports, as it does on loopback by default, there is no wait.
    """
    begun, waited_s = time.monotonic(), 0.0
    while waited_s <= TIME_WAIT_S:
        limits = network_limits()
        if limits.tw_reuse or limits.time_wait <= MOST_IN_TIME_WAIT * limits.ephemeral_ports:
            break
        if not waited_s:
            on_preparing(Preparing(step=Step.PORTS))
        time.sleep(_LOOK_S)
        waited_s = time.monotonic() - begun
    return waited_s
