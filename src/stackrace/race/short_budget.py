"""The refusal of a budget that does not hold a single block."""

from __future__ import annotations

from ..base.errors import InputError
from ..base.numbers import about, duration, things
from ..base.units import DURATION
from .overhead import USUAL_LAUNCH_S
from .results.race import RacePlan
from .schedule import FEWEST_BLOCKS
from .twins import entrants

__all__ = ["too_short", "too_short_for"]


def too_short_for(plan: RacePlan, least_s: float, remaining_s: float) -> InputError:
    """Return the refusal of ``plan``'s budget, of which ``remaining_s`` is left for a block of ``least_s``."""
    assert plan.budget_s is not None
    return too_short(
        plan.budget_s,
        least_s,
        stacks=len(plan.stacks),
        workloads=len(plan.workloads),
        levels=len(plan.loads),
        twin=len(entrants(plan)) > len(plan.stacks),
        before_s=plan.budget_s - remaining_s,
        loading_s=plan.loading.wall_s,
    )


def too_short(
    budget_s: float,
    least_s: float,
    *,
    stacks: int,
    workloads: int,
    levels: int,
    twin: bool = False,
    before_s: float = 0.0,
    loading_s: float = 0.0,
) -> InputError:
    """Return the refusal of a budget that does not hold a single block, which takes ``least_s``.

    ``before_s`` of it are spent already: getting ready counts, but for what is installed or built. ``loading_s``
    is what the app takes to load, the reason where launches take long.
    """
    meeting = f" with {workloads} workloads" if workloads > 1 else ""
    size = f"{things(stacks, 'stack')}{meeting} at {things(levels, 'load level')}"
    spent = f" after {about(before_s)} of preparation" if before_s >= 1 else ""
    reason = (
        f"; the app takes {duration(loading_s)} to load and to answer first" if loading_s > USUAL_LAUNCH_S else ""
    )
    return InputError(
        f"--budget {DURATION.format(budget_s)} is too short: one block of {size} takes "
        f"{DURATION.format(least_s)}{spent}, and an answer needs at least {FEWEST_BLOCKS} blocks, "
        f"about {about(before_s + FEWEST_BLOCKS * least_s)}; give more time, fewer stacks or fewer levels"
        + (", or --no-twin" if twin else "")
        + reason
    )
