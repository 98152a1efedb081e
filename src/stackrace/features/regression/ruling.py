"""The answer of a check: a ruling on each response, and the outcome of all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...measure.launch import FailureKind, Launch
from ...race.judge.decisions import Decisions
from ...race.judge.levels import blocks_of, headline_of, measured_levels
from ...race.judge.looks import Watched, watched
from ...race.judge.race_view import race_view
from ...race.judge.samples import Sample
from ...race.pacing.overhead import REWARM_S
from ...race.results.comparison import Change, Growth, Outcome, Response, Ruling, State
from ...race.results.race import Ending, Race
from ...race.run.scheduling import Scheduling
from ...stacks.stack import Side
from ...stats.summary import mean_of
from ...validity.registry import examine_race
from ...validity.steady import median_slope
from .model import ChangingPages, FailedLaunches, GateAnswer, gate_of, terms_of
from .responses import (
    FAILED_OF_A_SIDE,
    Pair,
    changing_pages,
    failed_launches,
    failures_needed,
    is_down,
    pairs_of,
    samples_of,
    slices_of,
)

_ENDED = frozenset(Ending) - {Ending.ANSWERED, Ending.INTERRUPTED}
"""Endings with a look at the end. A planned look has found an answer; an interrupted check gets no further look."""


def decide(race: Race) -> Decisions:
    """Return ``settled`` if the check is answered: a response is slower, or all are clear. No side is ever dropped.

    The check is also over if one side does not start any more, as the other has nothing to be compared with, or if
    all responses are clear and further launches cannot confirm the failures that rule out a pass.
    """
    if not race.launches:
        return Decisions(settled=False, dropped=frozenset())
    rulings, failed = list(map(ruling_of, _judged(race))), failed_launches(race)
    changing = changing_pages(race)
    may_be_confirmed = failed.may_be_confirmed or bool(changing.names)
    is_open = outcome_of(rulings, failed, changing) is Outcome.UNDECIDED and (
        not _clear(rulings) or may_be_confirmed
    )
    settled = not is_open or any(is_down(race, side) for side in (Side.BASE, Side.HEAD))
    return Decisions(settled=settled, dropped=frozenset())


class _Checking(Scheduling):
    """Rules of a check: both sides race until it is answered; failed launches are repeated."""

    relaunches_failed = True

    def decide(self, race: Race) -> Decisions:
        """Return the decision: is the check answered?"""
        return decide(race)

    def is_given_up(self, failures: Sequence[FailureKind]) -> bool:
        """Return True after four failures in a row, of any kind."""
        return len(failures) >= FAILED_OF_A_SIDE


CHECKING = _Checking()


def gate_answer(race: Race) -> GateAnswer:
    """Return the answer of ``race``, a check, so far; raises ValueError for any other race."""
    judged, failed, changing = _judged(race), failed_launches(race), changing_pages(race)
    rulings = tuple(map(ruling_of, judged))
    refused = not failed.confirmed and _refused(race, rulings)
    outcome = Outcome.REFUSED if refused else outcome_of(rulings, failed, changing)
    over = race.ending is not None
    return GateAnswer(
        outcome=outcome,
        rulings=tuple(_with_growth(each, race) for each in rulings) if over else rulings,
        blocks=len(blocks_of(race)),
        valid=len(pairs_of(race)),
        failed=failed,
        changing=changing,
        needed_s=_needed_s(race, judged, failed, changing) if over and outcome is Outcome.UNDECIDED else None,
    )


def _judged(race: Race) -> list[Watched]:
    allowances = gate_of(race).allowances
    responses = [response for response in Response if response in allowances]
    return family(samples_of(race, responses), allowances, ended=race.ending in _ENDED)


def family(samples: Sequence[Sample], allowances: Mapping[str, float], *, ended: bool) -> list[Watched]:
    return [
        watched(each, terms_of(each.response, allowances[each.response]), family=len(samples), ended=ended)
        for each in samples
    ]


def ruling_of(seen: Watched) -> Ruling:
    sample, figures, alarm = seen.sample, seen.figures, seen.alarm
    ruling = Ruling(
        response=sample.response,
        workload=sample.workload,
        state=seen.state,
        terms=seen.terms,
        alarm=None if alarm is None else sample.pairs(alarm),
        answers=sample.answers,
    )
    if figures is None:
        return ruling
    base, head = sample.sides(figures.first, figures.last)
    is_fresh = figures.first >= (alarm or 0)
    blocks = sample.pairs(figures.last) - sample.pairs(figures.first) if is_fresh else 0
    low, high = (sample.share(limit) if math.isfinite(limit) else None for limit in (figures.low, figures.high))
    change = Change(value=sample.share(figures.value), low=low, high=high)
    return replace(ruling, base=base, head=head, change=change, blocks=blocks)


def outcome_of(
    rulings: Sequence[Ruling], failed: FailedLaunches | None = None, changing: ChangingPages | None = None
) -> Outcome:
    """Return FAILED if anything is confirmed; PASSED if all responses are clear, no launch of the head failed,
    and no page changes in the head alone; else UNDECIDED."""
    failed, changing = failed or FailedLaunches(), changing or ChangingPages()
    if failed.confirmed or changing.confirmed or any(ruling.state is State.SLOWER for ruling in rulings):
        return Outcome.FAILED
    is_clear = _clear(rulings) and not failed.head and not changing.names
    return Outcome.PASSED if is_clear else Outcome.UNDECIDED


def _clear(rulings: Sequence[Ruling]) -> bool:
    return bool(rulings) and all(ruling.state is State.CLEAR for ruling in rulings)


def _refused(race: Race, rulings: Sequence[Ruling]) -> bool:
    """Return True if there is no valid measurement: no pair of both sides was measured, or the race is invalid."""
    if not any(ruling.blocks for ruling in rulings):
        return True
    levels = measured_levels(race)
    if not levels:
        return not any(ruling.state is State.SLOWER for ruling in rulings)
    return not examine_race(race_view(race, levels[headline_of(levels)].key)).valid


def _with_growth(ruling: Ruling, race: Race) -> Ruling:
    if ruling.response is not Response.MEMORY or ruling.state is State.CLEAR:
        return ruling
    return replace(ruling, growth=_growth_of(pairs_of(race)))


def _needed_s(
    race: Race, judged: Sequence[Watched], failed: FailedLaunches, changing: ChangingPages
) -> float | None:
    """Return the seconds that the launches still needed take, at the pace of those that counted.

    None if no number of launches would decide the check, or if the pace is unknown.
    """
    if failed.head:
        pairs = None if failed.base else failures_needed(race)
        return None if pairs is None else pairs * race.elapsed_s / len(blocks_of(race))
    counting = max((len(each.sample.blocks) for each in judged), default=0)
    more = [each.pairs_needed for each in judged if each.state not in (State.CLEAR, State.SLOWER)]
    if changing.names:
        # the base's next launch decides
        more.append(1)
    known = [each for each in more if each is not None]
    if not counting or not known or len(known) < len(more):
        return None
    return max(known) * race.elapsed_s / counting


_LEAST_SLOPES = 3

_DOUBT = 0.025
"""Probability of seeing growth where there is none: in the head's slope, and in its excess over the base's."""


def _growth_of(pairs: Sequence[Pair]) -> Growth | None:
    """Return the mean slopes of memory over requests within launches, base's and head's.

    Growth is proved if the head's slope is above 0 and above the base's, each by its lower t limit over the
    launches. None if fewer than three pairs of launches have slopes.

    Source: as for the check of growing memory, H. Theil, 1950; P. K. Sen, JASA 63 (1968) 1379–1389.
    """
    slopes = [(_slope(base), _slope(head)) for base, head in pairs]
    known = [(base, head) for base, head in slopes if base is not None and head is not None]
    if len(known) < _LEAST_SLOPES:
        return None
    untrimmed = len(known) + 1
    base, head, more = (
        mean_of(values, untrimmed)
        for values in ([each for each, _ in known], [each for _, each in known], [h - b for b, h in known])
    )
    return Growth(
        base_bytes=base.value,
        head_bytes=head.value,
        proved=min(head.low(_DOUBT, 1.0), more.low(_DOUBT, 1.0)) > 0,
    )


def _slope(launch: Launch) -> float | None:
    """Return the median slope between slices, in bytes per request; growth before the first slice is warm-up.

    None without two slices.
    """
    served, points = 0.0, []
    for each in sorted(slices_of(launch), key=lambda one: one.index):
        result = each.result
        served += result.counts.ok * (1 + REWARM_S / result.duration_s)
        points.append((served, float(sum(hop.pss_bytes for hop in each.usage))))
    return median_slope(points)
