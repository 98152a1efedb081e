"""What is refused before anything is started: limits of the machine, budgets that are too short."""

from __future__ import annotations

from ..model.load import Load
from ..race.schedule import Extent, least_budget_s
from ..race.slices import guess, too_short
from ..spec.request import RaceRequest
from .cores import budget_of
from .defaults import BUDGET_S, CONCURRENCY
from .preflight import check_limits

__all__ = ["refuse_early"]


def refuse_early(request: RaceRequest) -> None:
    """Raise InputError for what no race that ``request`` asks for could do here.

    What depends on the app and its services, or on which stacks are ready, is checked once that is known.
    """
    levels = sorted(set(request.concurrency or CONCURRENCY))
    stacks = len(request.stacks or ())
    loads = tuple(Load(concurrency=level, keep_alive=request.keep_alive) for level in levels)
    check_limits(loads, budget_of(request))
    if stacks and request.repeats is None and all(one.stacks is None for one in request.workloads):
        _refuse_short(request, stacks, len(levels), twin=request.twin and stacks > 1)


def _refuse_short(request: RaceRequest, stacks: int, levels: int, *, twin: bool) -> None:
    """Refuse a budget that would not hold a single block, were all as quick to start as stacks usually are."""
    budget_s, workloads = request.budget_s or BUDGET_S, max(len(request.workloads), 1)
    racing = stacks + twin
    ahead = Extent(stacks=racing, headline=racing, sides=racing * (levels * workloads - 1))
    least_s = least_budget_s(ahead, guess(budget_s, stacks), request.slice_s)
    if budget_s < least_s:
        raise too_short(budget_s, least_s, stacks=stacks, workloads=workloads, levels=levels, twin=twin)
