"""From a race's launches to its standing. Pure: nothing is measured."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ..base.verdict import Effect
from ..validity.registry import examine_race
from .answer import answer_of, lead_of
from .costs import costs_of, reason_of
from .levels import JudgedLevel, MeasuredLevel, curves, headline_of, judgement_of, measured_levels
from .machines import compared, pooled
from .notices import notice_of
from .race_view import race_view
from .results.answer import Answer, AnswerKind
from .results.race import Race
from .results.standing import Standing
from .resume import counted
from .rows import Merge, Spread, level_of, withdrawals
from .sensitivity import conditions_of

__all__ = ["standing"]


def standing(race: Race, *, merge: Merge, spread: Spread | None = None, thorough: bool = True) -> Standing:
    """Return how the stacks of ``race`` stand, from everything measured so far.

    The hidden twin is no competitor: its launches count as its original's, with which the checks on the race as a
    whole compare it. Pairs are compared over the blocks both have a value in. The headline is the level that
    `headline_of` picks. The leader's row comes first: the stack that the answer speaks of. The others go by how
    they compare with it. Launches that an interruption cut short count nowhere, those on a machine with
    unequal ratios only where machines are compared. What takes long to compute and only reports show is left out
    unless asked for: the curves of scaling by ``thorough``, the limits of percentiles by ``spread``, which takes
    histograms apart.
    """
    race = counted(race)
    machines = compared(race)
    race = pooled(race, machines)
    measured = measured_levels(race, pooled=True)
    if not measured:
        missing = withdrawals(race, set())
        return Standing(withdrawals=missing, warnings=_warnings(race), current=notice_of(race, None, missing))
    at = headline_of(measured)

    def judged(index: int, level: MeasuredLevel) -> JudgedLevel:
        judgement = judgement_of(race, level, drops=index == at)
        rows = level_of(race, level, judgement, merge, spread)
        return JudgedLevel(race=race, measured=level, judgement=judgement, level=rows)

    levels = [judged(index, level) for index, level in enumerate(measured)]
    headline = levels[at]
    verdict = examine_race(race_view(race, headline.measured.key))
    result = Standing(
        headline=at,
        levels=tuple(level.level for level in levels),
        withdrawals=withdrawals(race, {row.stack for level in levels for row in level.rows}),
        warnings=_warnings(race),
        resolution=headline.judgement.resolution,
        verdict=verdict,
        scaling=curves(levels) if thorough else (),
        machines=machines,
    )
    if not verdict.valid:
        return replace(result, answer=Answer(kind=AnswerKind.VOID))
    answer = answer_of(headline)
    return replace(
        result,
        answer=answer,
        leads=tuple(lead_of(level) for level in levels),
        reason=reason_of(headline.rows),
        costs=costs_of(headline, answer.next_best),
        conditions=conditions_of(levels, at),
        current=notice_of(race, headline, result.withdrawals),
    )


def _warnings(race: Race) -> dict[str, int]:
    """Return how often each check warned, by its id."""
    findings = (f for launch in race.launches for slice_ in launch.slices for f in slice_.verdict.findings)
    return dict(Counter(finding.check for finding in findings if finding.effect is Effect.WARNS))
