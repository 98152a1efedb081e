"""The request for a tuning: its goal, slices, configurations and limits."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace

from ...base.errors import InputError, StackError
from ...base.numbers import about, count, flag_value, setting, things
from ...base.units import DURATION, RATE
from ...measure.engine.histogram import QUANTILES
from ...measure.engine.load_run import label
from ...measure.resources import format_cores
from ...race.judge.ranking import LEAST_BEYOND
from ...race.preparation.chosen_app import asked_app
from ...race.preparation.contestants import current_stack, with_current_deployment
from ...race.preparation.core_shares import cores_of
from ...race.request.request import RaceRequest
from ...stacks.servers import Catalogue, catalogue
from ...stacks.setting import Interface
from ...stacks.stack import Stack
from ...stacks.stack_path import parse_stack
from .model import GoalKind, Reference, Tuning, TuningGoal, TuningLimits
from .search import AT_ONCE, largest_field
from .space import Space, space_of


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneRequest:
    """Request for the best settings of one stack for one app, within limits."""

    race: RaceRequest
    """The app, its pages, its cores and the budget; its stacks are ignored."""
    stack: str
    """Path of the stack to tune."""
    goal: TuningGoal = field(default_factory=TuningGoal)
    limits: TuningLimits = field(default_factory=TuningLimits)
    vary: tuple[str, ...] = ()
    """The settings to tune; see `space.space_of`."""
    current: str | None = None
    """Path of the project's current stack."""
    core_count: int | None = None
    """Number of cores for each configuration; None for the cores of ``race``."""


_GOAL_EXAMPLES = '"throughput", "p99 at 200/s" or "memory at 500/s"'

_AT = re.compile(r"(p50|p90|p99|p99\.9|p999|memory)\s+at\s+(\S+)")


def parse_goal(text: str) -> TuningGoal:
    """Return the goal in ``text``; raises InputError with examples.

    >>> parse_goal("p99 at 200/s").rate_per_s
    200.0
    """
    words = " ".join(text.lower().split())
    if words == GoalKind.THROUGHPUT:
        return TuningGoal()
    match = _AT.fullmatch(words)
    if match is None:
        raise InputError(f"--goal {text!r} is no goal; write it like {_GOAL_EXAMPLES}")
    try:
        rate_per_s = RATE.parse(match[2])
    except InputError as error:
        raise InputError(f"--goal {text!r}: {error.message}") from error
    if not 0.1 <= rate_per_s <= 1_000_000:
        raise InputError(f"--goal {text!r}: a rate is 0.1/s to 1M/s")
    if match[1] == GoalKind.MEMORY:
        return TuningGoal(kind=GoalKind.MEMORY, rate_per_s=rate_per_s)
    return TuningGoal(kind=GoalKind.LATENCY, rate_per_s=rate_per_s, quantile=match[1].replace(".", ""))


LEAST_SLICE_S, MOST_SLICE_S = 0.5, 10.0
"""Limits for slices, unless --slice is given: a block of thirty longer ones would take the whole budget."""


def tail_slice_s(goal: TuningGoal, asked_s: float | None) -> float:
    """Return the length of slices for the quantile of ``goal``: ``asked_s`` if given, else the length it needs.

    Raises InputError if ``asked_s`` is too short, or if the needed length exceeds ``MOST_SLICE_S``; the message
    names the lowest rate and the quantile that would do.
    """
    rate_per_s, requests = goal.rate_per_s, _requests_for(goal.quantile)
    assert rate_per_s is not None
    needed_s, enough = requests / rate_per_s, count(requests)
    if asked_s is not None:
        if asked_s < needed_s * (1 - 1e-9):
            raise InputError(
                f"--slice {DURATION.format(asked_s)} has {count(asked_s * rate_per_s)} requests at "
                f"{setting(rate_per_s)}/s; {label(goal.quantile)} needs {enough}: give --slice "
                f"{math.ceil(needed_s)}s or more{', or leave it out' if needed_s <= MOST_SLICE_S else ''}"
            )
        return asked_s
    if needed_s > MOST_SLICE_S:
        fitting = [q for q in QUANTILES if _requests_for(q) <= rate_per_s * MOST_SLICE_S]
        lower = f"'{_spelt(fitting[-1], rate_per_s)}', " if fitting else ""
        lowest = _spelt(goal.quantile, math.ceil(requests / MOST_SLICE_S))
        raise InputError(
            f"--goal '{_spelt(goal.quantile, rate_per_s)}' needs slices of {DURATION.format(needed_s)}, for "
            f"{label(goal.quantile)} rests on {enough} requests; give {lower}'{lowest}' or a higher rate, or "
            f"--slice {math.ceil(needed_s)}s and a long --budget"
        )
    return max(needed_s, LEAST_SLICE_S)


def _requests_for(quantile: str) -> int:
    """Return the number of requests a slice needs for a quantile: ``LEAST_BEYOND`` must lie beyond it.

    >>> _requests_for("p50"), _requests_for("p99"), _requests_for("p999")
    (20, 1000, 10000)
    """
    return round(LEAST_BEYOND / (1 - QUANTILES[quantile]))


def _spelt(quantile: str, rate_per_s: float) -> str:
    return f"{label(quantile)} at {setting(rate_per_s)}/s"


_BUDGET_S = 600.0
"""Default budget: enough for about forty configurations, and several launches of the finalists."""

_LEAST_S = 3.0
"""The least time to launch a configuration, warm it up and measure a slice."""


def candidates(asked: TuneRequest) -> tuple[RaceRequest, Tuning]:
    """Return the request for a race of all configurations of ``asked``, regardless of their needs, and the tuning.

    The reference stacks are included; one that is also a configuration appears once, under its own path. Raises
    InputError if there is nothing to tune or a quantile has too few requests.
    """
    if asked.goal.kind is GoalKind.LATENCY:
        # an unusable goal is refused before anything is prepared
        tail_slice_s(asked.goal, asked.race.slice_s)
    request = _with_cores(asked)
    servers, offered = catalogue().extended(request.servers), asked_app(request).offered
    space = space_of(
        parse_stack(asked.stack, servers.specs, offered, request.folder),
        servers.specs,
        offered,
        cores=len(cores_of(request).stack_cores),
        vary=asked.vary,
        saves_memory=asked.goal.kind is GoalKind.MEMORY,
        folder=request.folder,
    )
    tuning = _compared(asked, space, _current(asked, servers, offered))
    budget_s = request.budget_s or _BUDGET_S
    _refuse_short(tuning, budget_s)
    wanted = replace(
        request,
        stacks=tuple(dict.fromkeys((*tuning.settings, *tuning.references.values()))),
        twin=False,
        budget_s=budget_s,
        # only the load of the goal is measured
        workloads=tuple(replace(workload, stacks=None) for workload in request.workloads[:1]),
    )
    return wanted, tuning


def _compared(asked: TuneRequest, space: Space, current: Stack | None) -> Tuning:
    """Return the tuning of the configurations in ``space``, and of the references, which may be among them."""
    advised = space.formula()
    references = {
        Reference.DEFAULT: space.stack,
        Reference.FORMULA: advised and advised[0],
        Reference.CURRENT: current,
    }
    stacks = {stack.identity: stack for stack in space.configurations}
    settings = {stack.identity: values for stack, values in space.configurations.items()}
    named = dict[Reference, str]()
    for reference, stack in references.items():
        if stack is None:
            continue
        # the first reference to a stack decides how its path is written, also if it is one of the configurations
        known = stacks.get(stack.identity)
        if known is None or known in space.configurations:
            stacks[stack.identity] = stack
        named[reference] = stacks[stack.identity].path
        if stack.identity not in settings and (place := space.place(stack)) is not None:
            settings[stack.identity] = place
    reserve = tuple(path for path in space.reserve if path not in named.values())
    return Tuning(
        stack=space.stack.path,
        goal=asked.goal,
        limits=asked.limits,
        knobs=space.knobs,
        settings={stack.path: settings[identity] for identity, stack in stacks.items() if identity in settings},
        references=named,
        formula="" if advised is None else f"{advised[1]} = {advised[2]}",
        formula_source="" if advised is None else advised[2].source,
        reserve=reserve,
    )


def fewest_of(tuning: Tuning) -> int:
    """Return the least number of configurations in the first block, if the budget is too short for all."""
    references = {*tuning.references.values()}
    opening = {*tuning.settings, *references} - {*tuning.reserve}
    return min(len(opening), largest_field(0, 0, AT_ONCE) + len(references))


def _refuse_short(tuning: Tuning, budget_s: float) -> None:
    """Raise InputError for a budget too short to launch the fewest opening configurations even once."""
    many = fewest_of(tuning)
    least_s = many * _LEAST_S
    if budget_s < least_s:
        raise InputError(
            f"--budget {DURATION.format(budget_s)} is too short: launching {many} configurations takes about "
            f"{about(least_s)}, and the finalists are launched anew; give --budget {flag_value(2 * least_s)}, or "
            "tune fewer settings with --vary"
        )


def _current(asked: TuneRequest, servers: Catalogue, offered: frozenset[Interface]) -> Stack | None:
    """Return the project's current stack, from the user or else from the project's files, or None."""
    if asked.current is None:
        found = current_stack(with_current_deployment(asked.race), servers, offered, entry=asked.race.entry)
        return None if found is None else found.stack
    try:
        return parse_stack(asked.current, servers.specs, offered, asked.race.folder)
    except StackError as error:
        raise StackError(f"--current: {error.message}") from error


def _with_cores(asked: TuneRequest) -> RaceRequest:
    """Return the request with the requested number of cores: the first of those available to stacks."""
    if asked.core_count is None:
        return asked.race
    mine = cores_of(replace(asked.race, cores=None)).stack_cores
    if asked.core_count > len(mine):
        raise InputError(
            f"--cores {asked.core_count}: this machine has {things(len(mine), 'core')} for stacks "
            f"({format_cores(mine)}) beside the load engine's; give --cores {len(mine)} at most, or tune on a "
            "machine with more"
        )
    return replace(asked.race, cores=mine[: asked.core_count])
