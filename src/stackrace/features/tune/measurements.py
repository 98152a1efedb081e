"""Measurements of configurations: responses, memory and connections, and positions on the grid."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ...base.verdict import Effect
from ...measure.launch import Launch, Slice
from ...race.judge.levels import Response, blocks_of, headline_of, is_valid, measured_levels, throughput
from ...race.results.race import Race
from ...stacks.stack import original_path
from ...stats.pairs import Array
from ...validity.generator import OF_LATENCY, overload
from .estimates import Grid
from .model import GoalKind, Infeasible, Needs, Tuning, TuningGoal, Unfit, tuning_of
from .needs import exceeded
from .speed_effect import Slices, speed_effect


def _response_of(goal: TuningGoal) -> Response:
    if goal.kind is GoalKind.THROUGHPUT:
        return throughput

    def response(launch: Launch, slice_: Slice) -> float:
        is_memory = goal.kind is GoalKind.MEMORY
        value: float = _memory_bytes(launch) if is_memory else getattr(slice_.result.latency, goal.quantile)
        return -math.log(value) if value > 0 else math.nan

    return response


def _believed_for(goal: TuningGoal) -> Callable[[Slice], bool]:
    """Return the test for slices that count; for memory, findings that make only latency doubtful are ignored."""
    if goal.kind is not GoalKind.MEMORY:
        return is_valid
    return lambda slice_: all(
        finding.effect is not Effect.INVALIDATES or finding.check in OF_LATENCY
        for finding in slice_.verdict.findings
    )


def _memory_bytes(launch: Launch) -> int:
    """Return the most memory of a launch's own hops, without services; 0 if unknown.

    Samples are few where sampling is expensive, so the values at the end of each slice count, too.
    """
    path = original_path(launch.stack)
    own = (
        sum(usage.pss_bytes for usage in slice_.usage if usage.hop.partition("#")[0] in path)
        for slice_ in launch.slices
    )
    return max((launch.peak_bytes, *own))


def needs_of(launches: Sequence[Launch]) -> Needs | None:
    """Return the most memory and connections of a configuration's ``launches``; None if unknown."""
    memory = max(map(_memory_bytes, launches), default=0)
    seen = [launch.peak_connections for launch in launches if launch.peak_connections is not None]
    return Needs(memory_bytes=memory, connections=max(seen, default=None)) if memory else None


def grid_of(race: Race) -> Grid:
    """Return the configurations of ``race`` with their measurements, in the order of its stacks.

    The race must not contain launches that were cut short.
    """
    tuning, blocks = tuning_of(race), blocks_of(race)
    levels = measured_levels(race, response=_response_of(tuning.goal), believed=_believed_for(tuning.goal))
    level = levels[headline_of(levels)] if levels else None
    rows = dict(zip(level.stacks, level.values, strict=True)) if level else {}
    launched = {(launch.stack, launch.block) for launch in race.launches}
    number = {path: i for i, path in enumerate(race.stacks)}

    def numbers(paths: Iterable[str]) -> tuple[int, ...]:
        return tuple(sorted({number[path] for path in paths if path in number}))

    shape = len(race.stacks), len(blocks)
    values = np.array([rows.get(path, (math.nan,) * len(blocks)) for path in race.stacks]).reshape(shape)
    places = places_of(race.stacks, tuning)
    if tuning.goal.kind is GoalKind.THROUGHPUT:
        # memory does not depend on the cores' speed; latency does, but in another way
        values = values - speed_effect(_slices_of(race, blocks), places, shape[1])[0]
    return Grid(
        values=values,
        entered=np.array([(path, block) in launched for path in race.stacks for block in blocks], bool).reshape(
            shape
        ),
        places=places,
        delta=math.log1p(race.difference),
        references=numbers(tuning.references.values()),
        strangers=numbers(path for path in race.stacks if path not in tuning.settings),
        reserve=numbers(tuning.reserve),
        out=numbers(one.stack for one in unfit(race)),
    )


def places_of(stacks: Sequence[str], tuning: Tuning) -> Array:
    """Return the positions of ``stacks`` on the grid of the knobs, (K, D) in steps; NaN for stacks off the grid."""
    places = np.full((len(stacks), len(tuning.knobs)), np.nan)
    for i, path in enumerate(stacks):
        if path in tuning.settings:
            settings = zip(tuning.knobs, tuning.settings[path], strict=True)
            places[i] = [knob.step(value) for knob, value in settings]
    return places


def _slices_of(race: Race, blocks: Sequence[int]) -> Slices:
    column = {block: j for j, block in enumerate(blocks)}
    slices = [
        (throughput(launch, one), one.result.started_at + one.result.duration_s / 2, busy, i, column[launch.block])
        for i, path in enumerate(race.stacks)
        for launch in race.launches
        if launch.stack == path and launch.verdict.valid
        if (valid := [one for one in launch.slices if is_valid(one) and one.throughput_per_s > 0])
        if math.isfinite(busy := _busy(launch, valid, len(race.cores.stack_cores)))
        for one in valid
    ]
    return Slices.of(slices)


def _busy(launch: Launch, valid: Sequence[Slice], cores: int) -> float:
    """Return the share of the usable cores that a launch kept busy, 0 to 1; NaN if it had no processes.

    A process uses at most one core.
    """
    usable = min(max(sum(hop.processes for hop in one.usage) for one in launch.slices), cores)
    if not usable:
        return math.nan
    return min(sum(one.cpu_s for one in valid) / sum(one.result.duration_s for one in valid) / usable, 1.0)


_OVERLOADS = 2
"""Number of launches that miss the rate, after which a configuration counts as unable to deliver it."""
_FAILURES = 2


def unfit(race: Race) -> tuple[Infeasible, ...]:
    """Return the launched configurations that cannot be chosen."""
    tuning = tuning_of(race)
    found = ((path, _why(tuning, launches), needs_of(launches)) for path, launches in by_stack(race).items())
    return tuple(
        Infeasible(stack=path, kind=why, needs=needs, measured=True)
        for path, why, needs in found
        if why is not None
    )


def by_stack(race: Race) -> dict[str, list[Launch]]:
    """Return the launches of a race by the paths of their stacks."""
    found: dict[str, list[Launch]] = {}
    for launch in race.launches:
        found.setdefault(launch.stack, []).append(launch)
    return found


def _why(tuning: Tuning, launches: Sequence[Launch]) -> Unfit | None:
    if over := exceeded(tuning.limits, needs_of(launches)):
        return over[0].kind
    # launches that were cut short say nothing about a configuration
    launches = [launch for launch in launches if launch.slices or launch.shortfall is None]
    unbelieved = [launch for launch in launches if not _is_valid(launch, tuning)]
    if sum(map(_is_overloaded, unbelieved)) >= _OVERLOADS:
        return Unfit.RATE
    return Unfit.FAILED if len(launches) == len(unbelieved) >= _FAILURES else None


def _is_valid(launch: Launch, tuning: Tuning) -> bool:
    return launch.verdict.valid and any(map(_believed_for(tuning.goal), launch.slices))


def _is_overloaded(launch: Launch) -> bool:
    return bool(launch.slices) and all(
        any(finding.check == overload.declaration.id for finding in one.verdict.findings) for one in launch.slices
    )
