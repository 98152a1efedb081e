"""What launches say of configurations: their responses, what they use, and where they lie on the grid."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from ...base.verdict import Effect
from ...measure.launch import Launch, Slice
from ...race.levels import Response, blocks_of, headline_of, is_valid, measured_levels, throughput
from ...race.results.race import Race
from ...race.resume import counted
from ...stacks.stack import original_path
from ...validity.generator import OF_LATENCY, overload
from .model import GoalKind, Infeasible, Knob, Needs, Tuning, TuningGoal, Unfit, tuning_of
from .stats.grid import Grid, OneLaunch, Slices, grid_of


def _response_of(goal: TuningGoal) -> Response:
    """Return ln throughput, −ln latency in seconds, or −ln memory in bytes."""
    if goal.kind is GoalKind.THROUGHPUT:
        return throughput
    if goal.kind is GoalKind.MEMORY:
        return _memory

    def latency(launch: Launch, slice_: Slice) -> float:
        value_s = getattr(slice_.result.latency, goal.quantile)
        return -math.log(value_s) if value_s > 0 else math.nan

    return latency


def _believed_for(goal: TuningGoal) -> Callable[[Slice], bool]:
    """Return which slices count: what memory a rate takes does not hang on when exactly requests were sent."""
    if goal.kind is not GoalKind.MEMORY:
        return is_valid
    return lambda slice_: all(
        finding.effect is not Effect.INVALIDATES or finding.check in OF_LATENCY
        for finding in slice_.verdict.findings
    )


def in_unit(goal: TuningGoal, response: float) -> float:
    """Return a response in the goal's own unit: requests per second, seconds or bytes."""
    return math.exp(response if goal.kind is GoalKind.THROUGHPUT else -response)


def _memory_bytes(launch: Launch) -> int:
    """Return the most memory that a launch's own hops were seen to hold, services left out; 0 where nobody looked.

    Samples are few where looking is expensive, so what was known at the end of each slice counts, too.
    """
    path = original_path(launch.stack)
    own = (
        sum(usage.pss_bytes for usage in slice_.usage if usage.hop.partition("#")[0] in path)
        for slice_ in launch.slices
    )
    return max((launch.peak_bytes, *own))


def _memory(launch: Launch, slice_: Slice) -> float:
    held = _memory_bytes(launch)
    return -math.log(held) if held > 0 else math.nan


def _slices_of(race: Race, blocks: Sequence[int]) -> Slices:
    """Return the throughput of all believed slices of K stacks in the ``blocks``; the race has one level.

    How busy a launch kept the cores is a share of those that its processes can use: one process cannot use more
    than one.
    """
    own = {
        (launch.stack, launch.block): _of_launch(launch, valid, len(race.cores.stack_cores))
        for launch in race.launches
        if launch.verdict.valid and not launch.cut_short and (valid := [*filter(_counts, launch.slices)])
    }
    return Slices.of([[own.get((path, block)) for block in blocks] for path in race.stacks])


def _of_launch(launch: Launch, valid: Sequence[Slice], cores: int) -> OneLaunch:
    return OneLaunch(
        values=[throughput(launch, one) for one in valid],
        moments_s=[one.result.started_at + one.result.duration_s / 2 for one in valid],
        busy=_busy(launch, valid, cores),
    )


def _counts(one: Slice) -> bool:
    return is_valid(one) and one.throughput_per_s > 0


def _busy(launch: Launch, valid: Sequence[Slice], cores: int) -> float:
    usable = min(max(sum(hop.processes for hop in one.usage) for one in launch.slices), cores)
    if not usable:
        return math.nan
    return min(sum(one.cpu_s for one in valid) / sum(one.result.duration_s for one in valid) / usable, 1.0)


_OVERLOADS = 2
"""A rate that a configuration missed in so many launches it does not deliver."""
_FAILURES = 2
"""So many launches without anything to believe are enough."""


def grid_of_race(race: Race) -> Grid:
    """Return the configurations of ``race`` and what was measured of them, in the order of its stacks."""
    tuning = tuning_of(race)
    race = counted(race)
    blocks = blocks_of(race)
    levels = measured_levels(race, response=_response_of(tuning.goal), believed=_believed_for(tuning.goal))
    level = levels[headline_of(levels)] if levels else None
    rows = dict(zip(level.stacks, level.values, strict=True)) if level else {}
    launched = {(launch.stack, launch.block) for launch in race.launches}
    out = {one.stack for one in unfit(race)}
    number = {path: i for i, path in enumerate(race.stacks)}
    return grid_of(
        values=[rows.get(path, (math.nan,) * len(blocks)) for path in race.stacks],
        entered=[[(path, block) in launched for block in blocks] for path in race.stacks],
        # memory does not hang on how fast the cores are; a latency does, in ways of its own
        slices=_slices_of(race, blocks) if tuning.goal.kind is GoalKind.THROUGHPUT else None,
        places=places_of(race.stacks, tuning),
        delta=math.log1p(race.difference),
        references=tuple(sorted({number[path] for path in tuning.references.values() if path in number})),
        strangers=tuple(number[path] for path in race.stacks if path not in tuning.settings),
        reserve=tuple(number[path] for path in tuning.reserve if path in number),
        out=tuple(sorted(number[path] for path in out if path in number)),
    )


def places_of(stacks: Sequence[str], tuning: Tuning) -> list[tuple[float, ...]]:
    """Return where each of ``stacks`` lies on the grid of its knobs, in steps; NaN for off the grid."""
    nowhere = (math.nan,) * len(tuning.knobs)
    return [
        tuple(_step(knob, value) for knob, value in zip(tuning.knobs, tuning.settings[path], strict=True))
        if path in tuning.settings
        else nowhere
        for path in stacks
    ]


_APART = 2.0
"""Values that are no numbers lie so many steps apart: the next is not like the one before."""


def steps_of(knob: Knob) -> tuple[float, ...]:
    """Return where the values of a knob lie on the grid."""
    return tuple(i * (1.0 if knob.numeric else _APART) for i in range(len(knob.ladder)))


def _step(knob: Knob, value: str | None) -> float:
    """Return the step of ``value``: before the first where the knob means nothing, or between two."""
    if value is None:
        return -1.0
    if value in knob.ladder:
        return steps_of(knob)[knob.ladder.index(value)]
    if not knob.numeric or not value.isdecimal() or int(value) < 1:
        return math.nan
    steps = [math.log(int(one)) for one in knob.ladder]
    at = math.log(int(value))
    for step, (low, high) in enumerate(pairwise(steps)):
        if low <= at <= high:
            return step + (at - low) / (high - low)
    return float(len(steps)) if at > steps[-1] else -1.0


def unfit(race: Race) -> tuple[Infeasible, ...]:
    """Return the configurations that were launched, and found to be none that may be chosen."""
    return tuple(
        one for path, launches in by_stack(counted(race)).items() for one in _found(tuning_of(race), path, launches)
    )


def by_stack(race: Race) -> dict[str, list[Launch]]:
    """Return the launches of a race by the paths of their stacks."""
    found: dict[str, list[Launch]] = {}
    for launch in race.launches:
        found.setdefault(launch.stack, []).append(launch)
    return found


def _found(tuning: Tuning, path: str, launches: Sequence[Launch]) -> Iterator[Infeasible]:
    needs = needs_of(launches)
    why = None
    if exceeded := tuning.limits.exceeded(needs):
        why = exceeded[0].kind
    elif sum(_overloaded(launch, tuning) for launch in launches) >= _OVERLOADS:
        why = Unfit.RATE
    elif len(launches) >= _FAILURES and not any(_is_valid(launch, tuning) for launch in launches):
        why = Unfit.FAILED
    if why is not None:
        yield Infeasible(stack=path, kind=why, needs=needs, measured=True)


def needs_of(launches: Sequence[Launch]) -> Needs | None:
    """Return the most that the ``launches`` of a configuration were seen to use; None where nobody looked."""
    memory = max(map(_memory_bytes, launches), default=0)
    seen = [launch.peak_connections for launch in launches if launch.peak_connections is not None]
    return Needs(memory_bytes=memory, connections=max(seen, default=None)) if memory else None


def _is_valid(launch: Launch, tuning: Tuning) -> bool:
    return launch.verdict.valid and any(map(_believed_for(tuning.goal), launch.slices))


def _overloaded(launch: Launch, tuning: Tuning) -> bool:
    """Tell whether a launch did not keep up with its rate in any of its slices."""
    failing = [any(f.check == overload.declaration.id for f in s.verdict.findings) for s in launch.slices]
    return bool(failing) and all(failing) and not _is_valid(launch, tuning)
