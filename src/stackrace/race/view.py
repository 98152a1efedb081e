"""A race as the checks on whole races see it: plain numbers out of its launches. Pure: nothing is measured."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from ..checks.races import AnswerSizes, Carried, Drifted, RaceView, TwinPair
from ..model.load import LoadResult
from ..model.race import Race, Rule
from ..model.stack import twin_path
from ..stats.carry_over import carry_over
from ..stats.drift import drift
from ..stats.logs import exp, growth
from ..stats.selection import ORDER_ALPHA as ALPHA
from ..stats.selection import family as look
from .levels import Field, fields
from .turns import Measured, turns

__all__ = ["Twins", "race_view", "twins_apart", "twins_at"]

LEAST_ANSWERS = 100
"""In a slice of fewer, answers that are half read at its end show in the mean size."""

LEAST_PER_CONNECTION = 50
"""Where there are several URLs, the rounds in whose middle connections are at a slice's end show in the mean, too,
unless they are less than the 2 % of its answers that the check lets pass."""

PARTS = 3
"""A turn's positions are put together to so many: early, in the middle, late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Twins:
    """The twin minus its original at one level, in ln units, with its simultaneous half-width; infinite without."""

    difference: float
    half_width: float

    @property
    def differ(self) -> bool:
        return abs(self.difference) > self.half_width

    @property
    def resolution(self) -> float | None:
        """The smallest difference that would have shown, 0.04 for 4 %, or None."""
        return growth(self.half_width)


def twins_at(race: Race, level: tuple[str, str]) -> Twins | None:
    """Return what ``level``, by itself, says about the pair, as one of all pairs of stacks and twin.

    None where there is no twin, or one of the pair was not measured there.
    """
    found = (field for field in _with_twin(race) if field.level == level)
    return next((_compared(race, field, ALPHA) for field in found if _both(race, field)), None)


def twins_apart(race: Race, *, blocks: int | None = None) -> bool:
    """Tell whether the twins differ at any level, in the first ``blocks`` blocks or in all."""
    return any(twins.differ for _, twins in _pairs(race, _with_twin(race, blocks)))


def race_view(race: Race, headline: tuple[str, str]) -> RaceView:
    """Return what the checks see of ``race``; ``headline`` names the workload and load that the answer is about."""
    found = _with_twin(race)
    pooled = fields(race, pooled=race.rule is Rule.SELECTION)
    spoken = next((field for field in pooled if field.level == headline), None)
    return RaceView(
        twin=race.twin,
        twins=tuple(_told(field, twins) for field, twins in _pairs(race, found) if math.isfinite(twins.half_width)),
        drift=_drift(race, spoken),
        uneven=tuple(_uneven(race, spoken)),
        sizes=tuple(_sizes(race, field) for field in pooled),
        carried=tuple(_carried(race)),
    )


def _with_twin(race: Race, blocks: int | None = None) -> list[Field]:
    return fields(race, blocks=blocks, beside=(twin_path(race.twin),) if race.twin else ())


# The twins


def _pairs(race: Race, found: Sequence[Field]) -> Iterator[tuple[Field, Twins]]:
    """Give the levels that both halves were measured at; their limits hold for all these levels at once."""
    both = [field for field in found if _both(race, field)]
    for field in both:
        twins = _compared(race, field, ALPHA / len(both))
        if twins is not None:
            yield field, twins


def _both(race: Race, field: Field) -> bool:
    return bool(race.twin) and {race.twin, twin_path(race.twin)} <= set(field.stacks)


def _compared(race: Race, field: Field, alpha: float) -> Twins | None:
    """Compare the pair in a family of all stacks and the twin: None where the two share no block."""
    family = look(field.values, alpha)
    pair = field.stacks.index(twin_path(race.twin)), field.stacks.index(race.twin)
    if not family.blocks[pair]:
        return None
    return Twins(difference=float(family.estimate[pair]), half_width=float(family.half_width[pair]))


def _told(field: Field, twins: Twins) -> TwinPair:
    low, high = twins.difference - twins.half_width, twins.difference + twins.half_width
    return TwinPair(
        where=_where(field.level),
        ratio=math.exp(twins.difference),
        low=exp(low),
        high=exp(high),
    )


def _where(level: tuple[str, str]) -> str:
    workload, load = level
    return (f"on {workload} " if workload else "") + f"at {load}"


# Drift, of what took part in every block


def _drift(race: Race, field: Field | None) -> Drifted | None:
    return _drifted(_mean(_steady(race, field)))


def _uneven(race: Race, field: Field | None) -> Iterator[tuple[str, Drifted]]:
    """Give the drift of each of these stacks beside the mean of its others."""
    steady = _steady(race, field)
    for stack, own in steady.items():
        others = {name: values for name, values in steady.items() if name != stack}
        if others:
            beside = _drifted([a - b for a, b in zip(own, _mean(others), strict=True)], alpha=0.05 / len(steady))
            if beside is not None:
                yield stack, beside


def _steady(race: Race, field: Field | None) -> dict[str, Sequence[float]]:
    """Return the values of the stacks that were measured in most blocks, the twin with its original.

    Blocks in which one of them has none are NaN in all, so that no stack's absence looks like drift.
    """
    if field is None:
        return {}
    known = {
        stack: values for stack, values in zip(field.stacks, field.values, strict=True) if stack in race.stacks
    }
    most = max((sum(map(math.isfinite, values)) for values in known.values()), default=0)
    return {stack: values for stack, values in known.items() if sum(map(math.isfinite, values)) == most}


def _mean(values: Mapping[str, Sequence[float]]) -> list[float]:
    return [fmean(block) for block in zip(*values.values(), strict=True)]  # NaN where one of them has none


def _drifted(values: Sequence[float], alpha: float = 0.05) -> Drifted | None:
    found = drift(values, alpha=alpha)
    return None if found is None else Drifted(value=found.value, low=found.low, high=found.high)


# What answers weigh, and what is carried over


def _sizes(race: Race, field: Field) -> AnswerSizes:
    by_stack = (
        (
            stack,
            [one.result.bytes_read / one.result.counts.ok for one in slices
             if one.result.counts.ok >= _least_answers(one.result) and not one.result.counts.errors],
        )
        for stack, slices in zip(field.stacks, field.slices, strict=True)
    )  # fmt: skip
    known = tuple((stack, median(sizes)) for stack, sizes in by_stack if sizes and median(sizes) > 0)
    return AnswerSizes(where=_where(field.level), bytes_by_stack=known)


def _least_answers(result: LoadResult) -> int:
    rounds = LEAST_PER_CONNECTION * result.established_peak if result.targets else 0
    return max(LEAST_ANSWERS, rounds)


def _carried(race: Race) -> Iterator[Carried]:
    found = turns(race)
    for level in dict.fromkeys(one.level for one in found):
        own = [one for one in found if one.level == level]
        where = _where(level)
        for by, groups in (("the place in the turn", _parts(own)), ("which stack was loaded before", _after(own))):
            p = carry_over([one.value for one in own], _owners(own), [one.turn for one in own], groups)
            if p is not None:
                yield Carried(by=by, where=where, p=p)


def _owners(own: Sequence[Measured]) -> list[int]:
    """Number whose each value is: its launch, or its stack where launches have a single slice here."""
    often = max(Counter(one.launch for one in own).values(), default=0) > 1
    return _numbered([one.launch if often else one.stack for one in own])


def _parts(own: Sequence[Measured]) -> list[int]:
    """Return early, middle or late for each; a turn of two stacks has an early and a late one."""
    length = Counter(one.turn for one in own)
    return [min(one.position * PARTS // max(length[one.turn], 2), PARTS - 1) for one in own]


def _after(own: Sequence[Measured]) -> list[int]:
    known = _numbered([one.after for one in own])
    return [number if one.after else -1 for number, one in zip(known, own, strict=True)]


def _numbered(names: Sequence[str]) -> list[int]:
    places = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return [places[name] for name in names]
