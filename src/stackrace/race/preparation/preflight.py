"""Whether this machine can take the race at all, as early as that is known."""

from __future__ import annotations

import time

from ...deploy.preparing import OnPreparing, Preparing, Step
from ...measure.host import NetworkLimits
from ...measure.load import Load
from ...measure.probe import network_limits
from ...validity.preflight import MOST_IN_TIME_WAIT, TIME_WAIT_S
from ...validity.registry import check_limits
from ..overhead import expected_overhead
from ..pace import USUAL_LENGTHS, fixed_lengths
from ..request.request import RaceRequest
from ..schedule import Extent, least_budget_s, too_short
from .choosing import FEWEST
from .cores import cores_of
from .defaults import budget_s_of, levels_of

_LOOK_S = 1.0
"""How often it is looked whether ports came free."""


def refuse_early(request: RaceRequest, first: int | None = None, *, remote_engine: bool = False) -> None:
    """Raise InputError for what no race that ``request`` asks for could do here.

    What depends on the app and its services, or on which stacks are ready, is checked once that is known. Where
    time is short, fewer stacks may race, at one level unless more were asked for. ``first``
    is how many stacks open a race that tunes, at its only level; None for all. With a
    ``remote_engine`` the load comes from other machines.
    """
    levels = levels_of(request)
    stacks = first or len(request.stacks or ())
    loads = tuple(Load(concurrency=level, keep_alive=request.keep_alive) for level in levels)
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
    """Refuse a budget that would not hold a single block, were all as quick to start as stacks usually are."""
    workloads, twin = max(len(request.workloads), 1), request.twin and stacks > 1
    racing = stacks + twin
    ahead = Extent(stacks=racing, headline=racing, sides=racing * (levels * workloads - 1))
    lengths = USUAL_LENGTHS if request.slice_s is None else fixed_lengths(request.slice_s)
    least_s = least_budget_s(ahead, expected_overhead(budget_s, stacks), lengths)
    if budget_s < least_s:
        raise too_short(budget_s, least_s, stacks=stacks, workloads=workloads, levels=levels, twin=twin)


def wait_for_ports(on_preparing: OnPreparing) -> float:
    """Wait while connections that are over hold most ports, for as long as they can; return the seconds it took.

    Where the kernel uses such ports again, as it does on loopback unless told otherwise, nobody waits.
    """
    begun, waited_s = time.monotonic(), 0.0
    while waited_s <= TIME_WAIT_S and _crowded(network_limits()):
        if not waited_s:
            on_preparing(Preparing(step=Step.PORTS))
        time.sleep(_LOOK_S)
        waited_s = time.monotonic() - begun
    return waited_s


def _crowded(limits: NetworkLimits) -> bool:
    return not limits.tw_reuse and limits.time_wait > MOST_IN_TIME_WAIT * limits.ephemeral_ports
