"""What is asked of a tuner: its goal, the configurations that means, how long slices are, and what is compared."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...base.errors import InputError, MissingError, StackError
from ...base.numbers import about, count, setting, things
from ...base.units import DURATION, RATE
from ...measure.engine.histogram import QUANTILES
from ...measure.engine.load_run import label
from ...measure.resources import format_cores
from ...race.preparation.app import asked_app
from ...race.preparation.contestants import beside_current, current_stack
from ...race.preparation.cores import cores_of
from ...race.request.request import RaceRequest
from ...race.standing import LEAST_BEYOND
from ...stacks.servers import Catalogue, catalogue
from ...stacks.stack import Interface, Stack
from ...stacks.stack_path import parse_stack
from ...stats.pairs import Array
from .model import GoalKind, Reference, Tuning, TuningGoal, TuningLimits
from .space import formula_of, place_of, space_of
from .stats.grid import Flags
from .stats.rounds import AT_ONCE, FIRST, largest_field

_INSTALL = "pip install 'stackrace[tune]'"


class Proposer:
    """Optuna's tree-structured Parzen estimator, asked for a batch and told all means so far.

    It is made anew for each batch from the seed and what was measured, so that a race can be repeated and go on.
    Raises MissingError where Optuna is missing.

    Source: Bergstra et al. 2011, Algorithms for Hyper-Parameter Optimization, NeurIPS 24.
    """

    def __init__(self, places: Sequence[Sequence[float]] | Array, seed: int) -> None:
        self._optuna = require_sampler()
        self._places = np.asarray(places, dtype=float)
        self._seed = seed % 2**32
        self._steps = [sorted({float(step) for step in column if np.isfinite(step)}) for column in self._places.T]

    def __call__(self, expected: Array, fresh: Flags, many: int) -> Sequence[int]:
        """Return ``many`` of the configurations ``fresh``, fewer where there are not so many."""
        optuna = self._optuna
        sampler = optuna.samplers.TPESampler(
            seed=self._seed, n_startup_trials=8, multivariate=True, constant_liar=True
        )
        study = optuna.create_study(direction="maximize", sampler=sampler)
        ranges = {
            str(d): optuna.distributions.IntDistribution(0, len(steps) - 1) for d, steps in enumerate(self._steps)
        }
        for i in np.flatnonzero(np.isfinite(expected) & np.isfinite(self._places).all(axis=1)):
            at = {str(d): self._steps[d].index(float(self._places[i, d])) for d in range(len(self._steps))}
            study.add_trial(optuna.trial.create_trial(params=at, distributions=ranges, value=float(expected[i])))
        left = [int(i) for i in np.flatnonzero(fresh)]
        batch: list[int] = []
        while left and len(batch) < many:
            trial = study.ask(ranges)
            wanted = np.array([self._steps[d][trial.params[str(d)]] for d in range(len(self._steps))])
            nearest = min(left, key=lambda i: (self._far(i, wanted), i))
            left.remove(nearest)
            batch.append(nearest)
        return batch

    def _far(self, i: int, wanted: Array) -> float:
        """Return how far a configuration is from a proposal, which others may forbid, or which was tried."""
        apart = float(((self._places[i] - wanted) ** 2).sum())
        return apart if np.isfinite(apart) else np.inf


def require_sampler() -> Any:
    """Return Optuna, quiet; raises MissingError with what installs it."""
    try:
        import optuna
    except ImportError as error:
        raise MissingError(
            f"so many configurations need Optuna, which proposes what to try: {_INSTALL}; or tune fewer settings "
            "at a time with --vary"
        ) from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


_GOAL_EXAMPLES = '"throughput", "p99 at 200/s" or "memory at 500/s"'

_AT = re.compile(r"(p50|p90|p99|p99\.9|p999|memory)\s+at\s+(\S+)")
_QUANTILES = {"p99.9": "p999"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneRequest:
    """The best settings of one stack for one app, within limits."""

    race: RaceRequest
    """The app, its pages, its cores and the budget; its stacks are not looked at."""
    stack: str
    """The path whose settings are tuned."""
    goal: TuningGoal = field(default_factory=TuningGoal)
    limits: TuningLimits = field(default_factory=TuningLimits)
    vary: tuple[str, ...] = ()
    """The settings to tune; see `space.space_of`."""
    current: str | None = None
    """The path of what the project is deployed with today."""
    core_count: int | None = None
    """How many cores each configuration may use; None for what ``race`` says."""


def parse_goal(text: str) -> TuningGoal:
    """Return the goal that ``text`` says; raises InputError with examples.

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
    quantile = _QUANTILES.get(match[1], match[1])
    return TuningGoal(kind=GoalKind.LATENCY, rate_per_s=rate_per_s, quantile=quantile)


def goal_text(goal: TuningGoal) -> str:
    """Return ``goal`` as `parse_goal` reads it."""
    if goal.kind is GoalKind.THROUGHPUT or goal.rate_per_s is None:
        return GoalKind.THROUGHPUT.value
    what = "memory" if goal.kind is GoalKind.MEMORY else goal.quantile
    return f"{what} at {setting(goal.rate_per_s)}/s"


_BUDGET_S = 600.0
"""Some forty configurations, and the finalists launched anew."""

_LEAST_S = 3.0
"""What launching a configuration, warming it up and a slice take at least."""


def candidates(asked: TuneRequest) -> tuple[RaceRequest, Tuning]:
    """Return the request for a race of all configurations that ``asked`` means, whatever they need, and the tuning.

    The reference stacks are among them; one that is a configuration, too, is there once, under its own path. Raises
    InputError where nothing is to be tuned or a quantile has too few requests, MissingError where there are so many
    that a sampler must be installed.
    """
    if asked.goal.kind is GoalKind.LATENCY:
        # refused before anything is prepared
        tail_slice_s(asked.goal, asked.race.slice_s)
    request = _with_cores(asked)
    resources = cores_of(request)
    servers = catalogue().extended(request.servers)
    cores, specs = len(resources.stack_cores), servers.specs
    offered = asked_app(request).offered
    given = parse_stack(asked.stack, specs, offered, request.folder)
    space = space_of(
        given,
        specs,
        offered,
        cores=cores,
        vary=asked.vary,
        saves_memory=asked.goal.kind is GoalKind.MEMORY,
        folder=request.folder,
    )
    advised = formula_of(space)
    references = {Reference.DEFAULT: given}
    if advised is not None:
        references[Reference.FORMULA] = advised[0]
    if (current := _current(asked, servers, offered)) is not None:
        references[Reference.CURRENT] = current
    stacks = {stack.identity: stack for stack in space.stacks}
    settings = {stack.identity: space.settings[stack.path] for stack in space.stacks}
    named = dict[Reference, str]()
    for reference, stack in references.items():
        # the first reference gives the path; a configuration that is the same stack is spelt as it is
        known = stacks.get(stack.identity)
        if known is None or known.path in space.settings:
            stacks[stack.identity] = stack
        named[reference] = stacks[stack.identity].path
        if stack.identity not in settings:
            place = place_of(space, stack)
            settings |= {} if place is None else {stack.identity: place}
    reserve = tuple(path for path in space.reserve if path not in named.values())
    proposes = len(stacks) - len(reserve) > AT_ONCE
    if proposes:
        require_sampler()
    tuning = Tuning(
        stack=given.path,
        goal=asked.goal,
        limits=asked.limits,
        knobs=space.knobs,
        settings={stack.path: settings[identity] for identity, stack in stacks.items() if identity in settings},
        references=named,
        formula="" if advised is None else f"{advised[1]} = {advised[2]}",
        formula_source="" if advised is None else advised[2].source,
        proposes=proposes,
        reserve=reserve,
    )
    _refuse_short(tuning, request.budget_s or _BUDGET_S)
    wanted = replace(
        request,
        stacks=tuple(stack.path for stack in stacks.values()),
        twin=False,
        budget_s=request.budget_s or _BUDGET_S,
        # the goal's own load is all that is measured
        workloads=tuple(replace(workload, stacks=None) for workload in request.workloads[:1]),
    )
    return wanted, tuning


def fewest_of(tuning: Tuning) -> int:
    """Return how many configurations open the race at least, where the budget is too short for all."""
    references = {*tuning.references.values()}
    opening = {*tuning.settings, *references} - {*tuning.reserve}
    first = FIRST + len(tuning.references) if tuning.proposes else len(opening)
    return min(first, largest_field(0, 0, AT_ONCE) + len(references))


def _refuse_short(tuning: Tuning, budget_s: float) -> None:
    """Refuse a budget in which the fewest configurations that open a race could not even be launched once."""
    many = fewest_of(tuning)
    least_s = many * _LEAST_S
    if budget_s < least_s:
        raise InputError(
            f"--budget {DURATION.format(budget_s)} is too short: launching {many} configurations takes about "
            f"{about(least_s)}, and the finalists are launched anew; give {about(2 * least_s)} or more, or tune "
            "fewer settings with --vary"
        )


def _current(asked: TuneRequest, servers: Catalogue, offered: frozenset[Interface]) -> Stack | None:
    """Return what the project is deployed with today: as the user says, else as its own files do, if they do."""
    if asked.current is None:
        found = current_stack(beside_current(asked.race), servers, offered, entry=asked.race.entry)
        return None if found is None else found.stack
    try:
        return parse_stack(asked.current, servers.specs, offered, asked.race.folder)
    except StackError as error:
        raise StackError(f"--current: {error.message}") from error


def _with_cores(asked: TuneRequest) -> RaceRequest:
    """Return the request with so many cores as are asked for: the first of those that stacks may have."""
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


LEAST_SLICE_S, MOST_SLICE_S = 0.5, 10.0
"""Of a tuning, unless --slice says otherwise: a block of thirty longer ones would take the whole budget."""


def _requests_for(quantile: str) -> int:
    """Return how many requests a slice needs for a quantile: ``LEAST_BEYOND`` must lie beyond it.

    >>> _requests_for("p50"), _requests_for("p99"), _requests_for("p999")
    (20, 1000, 10000)
    """
    return round(LEAST_BEYOND / (1 - QUANTILES[quantile]))


def tail_slice_s(goal: TuningGoal, asked_s: float | None) -> float:
    """Return how long slices are for the quantile of ``goal``: as ``asked_s``, else as it needs.

    Raises InputError where that is too short, or would be more than ``MOST_SLICE_S``: with the lowest rate and the
    quantile that would do.
    """
    assert goal.rate_per_s is not None
    needed_s = _requests_for(goal.quantile) / goal.rate_per_s
    spelt, enough = label(goal.quantile), count(_requests_for(goal.quantile))
    if asked_s is not None:
        if asked_s < needed_s * (1 - 1e-9):
            raise InputError(
                f"--slice {DURATION.format(asked_s)} has {count(asked_s * goal.rate_per_s)} requests at "
                f"{setting(goal.rate_per_s)}/s; {spelt} needs {enough}: give --slice {math.ceil(needed_s)}s or "
                f"more{', or leave it out' if needed_s <= MOST_SLICE_S else ''}"
            )
        return asked_s
    if needed_s > MOST_SLICE_S:
        lowest = _spelt(goal.quantile, math.ceil(_requests_for(goal.quantile) / MOST_SLICE_S))
        raise InputError(
            f"--goal '{_spelt(goal.quantile, goal.rate_per_s)}' needs slices of {DURATION.format(needed_s)}, for "
            f"{spelt} rests on {enough} requests; give {_lower(goal)}'{lowest}' or a higher rate, or "
            f"--slice {math.ceil(needed_s)}s and a long --budget"
        )
    return max(needed_s, LEAST_SLICE_S)


def _lower(goal: TuningGoal) -> str:
    """Return the highest quantile that the rate would do for, as a goal; empty where none is."""
    assert goal.rate_per_s is not None
    fitting = [q for q in QUANTILES if _requests_for(q) <= goal.rate_per_s * MOST_SLICE_S]
    return f"'{_spelt(fitting[-1], goal.rate_per_s)}', " if fitting else ""


def _spelt(quantile: str, rate_per_s: float) -> str:
    """Return a goal as it is given on the command line."""
    return f"{label(quantile)} at {setting(rate_per_s)}/s"
