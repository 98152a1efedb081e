"""What is refused, or foretold, before anything is started: limits of the machine, budgets that are too short."""

from __future__ import annotations

from ..model.load import Load
from ..model.race import RacePlan
from ..model.units import DURATION
from ..race.block import extent
from ..race.schedule import Extent, least_budget_s
from ..race.slices import about, guess, too_short
from ..race.twins import choice
from ..spec.request import RaceRequest
from ..stats.looks import LOOKS
from .budgets import budget_of
from .defaults import BUDGET_S, CONCURRENCY
from .preflight import check_limits

__all__ = ["outlook_before", "refuse_early"]


def refuse_early(request: RaceRequest) -> None:
    """Raise InputError for what no race that ``request`` asks for could do here.

    What depends on the app and its services, or on which stacks are ready, is checked once that is known.
    """
    levels = sorted(set(request.concurrency or CONCURRENCY))
    stacks = len(request.stacks or ())
    loads = tuple(Load(concurrency=level, keep_alive=request.keep_alive) for level in levels)
    check_limits(loads, budget_of(request), stacks=max(stacks, 1))
    if stacks and request.repeats is None and all(one.stacks is None for one in request.workloads):
        _refuse_short(request.budget_s or BUDGET_S, stacks, max(len(request.workloads), 1), len(levels))


def _refuse_short(budget_s: float, stacks: int, workloads: int, levels: int) -> None:
    """Refuse a budget that would not hold a single block, were all as quick to start as stacks usually are."""
    ahead = Extent(stacks=stacks, headline=stacks, sides=stacks * (levels * workloads - 1))
    least_s = least_budget_s(ahead, guess(budget_s, stacks))
    if budget_s < least_s:
        raise too_short(budget_s, least_s, stacks=stacks, workloads=workloads, levels=levels)


def outlook_before(plan: RacePlan) -> tuple[str, ...]:
    """Tell, in a sentence, that the budget is too short for a first decision; nothing where it is not.

    Reckoned from what stacks usually take; what these stacks take is known after the first blocks.
    """
    if plan.repeats is not None or plan.budget_s is None:
        return ()
    twin = choice(plan, plan.stacks)
    ahead = extent(plan.cells((*plan.stacks, *(() if twin is None else (twin.twin,)))))
    least_s = least_budget_s(ahead, guess(plan.budget_s, len(plan.stacks)))
    launches = int(plan.budget_s / least_s)
    if launches >= LOOKS[0]:
        return ()
    return (
        f"A budget of {DURATION.format(plan.budget_s)} holds about {launches} "
        f"launch{'' if launches == 1 else 'es'} of each stack; a decision takes {LOOKS[0]}, "
        f"which need about {about(LOOKS[0] * least_s)}.",
    )
