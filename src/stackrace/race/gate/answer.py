"""What a check answers: a ruling on each response, and the outcome of all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from ...checks.races import examine_race
from ...model.gate import (
    Change,
    FailedLaunches,
    GateAnswer,
    Outcome,
    Response,
    Ruling,
    State,
    Terms,
    terms_of,
)
from ...model.race import Ending, Race
from ...model.stack import Side
from ...stats.gate import LOOKS, Stage, Watched, blocks_needed, watched
from ...stats.logs import exp
from ..decisions import Decisions
from ..levels import blocks_of, headline_of, measured_levels
from ..race_view import race_view
from .failures import failed_launches, is_down, may_be_confirmed
from .series import Series, series_of

__all__ = ["decide", "gate_answer", "outcome_of", "rulings_of"]

_ENDED = frozenset(Ending) - {Ending.ANSWERED, Ending.INTERRUPTED}
"""Endings with a last look. An answer was seen by a planned look, and an interruption is no time to look."""

_AFTER = {Stage.CONFIRMED: State.SLOWER, Stage.ALARMED: State.ALARM, Stage.WATCHED: State.OPEN}


def decide(race: Race) -> Decisions:
    """Say whether the check is answered: something is slower, or everything is clear. Nobody is ever dropped.

    It is over, too, where one side does not come up, as the other has nothing to be compared with, and where only
    failures that are not the head's alone stand in the way of a pass.
    """
    if not race.launches:
        return Decisions(settled=False, dropped=frozenset())
    rulings, failed = _rulings(race)[0], failed_launches(race)
    is_open = outcome_of(rulings, failed) is Outcome.UNDECIDED and (not _clear(rulings) or may_be_confirmed(failed))
    settled = not is_open or any(is_down(race, side) for side in (Side.BASE, Side.HEAD))
    return Decisions(settled=settled, dropped=frozenset())


def gate_answer(race: Race) -> GateAnswer:
    """Return what ``race``, which compares two sides, answers so far. Raises ValueError for any other race."""
    rulings, more = _rulings(race)
    failed = failed_launches(race)
    refused = not failed.confirmed and _refused(race, rulings)
    outcome = Outcome.REFUSED if refused else outcome_of(rulings, failed)
    hopeful = outcome is Outcome.UNDECIDED and not failed.head
    return GateAnswer(
        outcome=outcome,
        rulings=rulings,
        blocks=len(blocks_of(race)),
        failed=failed,
        needed_s=_needed_s(race, more) if hopeful else None,
    )


def _rulings(race: Race) -> tuple[tuple[Ruling, ...], list[int | None]]:
    """Return the rulings, and how many more blocks each that is open needs."""
    if race.gate is None:
        raise ValueError(f"race {race.id} is no check")
    responses = [response for response in Response if response in race.gate.allowances]
    return rulings_of(series_of(race, responses), race.gate.allowances, ended=race.ending in _ENDED)


def rulings_of(
    found: Sequence[Series], allowances: Mapping[str, float], *, ended: bool
) -> tuple[tuple[Ruling, ...], list[int | None]]:
    """Return what is said of each of ``found``, which are one family, and how many more blocks each that is open
    needs."""
    seen = [_seen(series, allowances, len(found), ended=ended) for series in found]
    rulings = tuple(
        _ruling(series, each, terms_of(series.response, allowances[series.response]))
        for series, each in zip(found, seen, strict=True)
    )
    more = [
        blocks_needed(
            each,
            limit=_log(ruling.response, ruling.terms.limit),
            allowance=_log(ruling.response, ruling.terms.allowance),
        )
        for each, ruling in zip(seen, rulings, strict=True)
        if ruling.state not in (State.CLEAR, State.SLOWER)
    ]
    return rulings, more


def _seen(series: Series, allowances: Mapping[str, float], family: int, *, ended: bool) -> Watched:
    return watched(
        series.differences,
        allowance=_log(series.response, allowances[series.response]),
        family=family,
        ended=ended,
        requests=series.requests if series.response is Response.ERRORS else None,
    )


def _ruling(series: Series, seen: Watched, terms: Terms) -> Ruling:
    response = series.response
    state = _AFTER[seen.stage] if seen.blocks or seen.alarm else State.UNKNOWN
    if state in (State.OPEN, State.ALARM) and seen.high < _log(response, terms.limit):
        state = State.CLEAR
    first = seen.alarm or 0
    base, head = series.base[first:], series.head[first:]
    return Ruling(
        response=response,
        workload=series.workload,
        quantile=series.quantile,
        state=state,
        terms=terms,
        base=_middle(response, base),
        head=_middle(response, head),
        change=_change(response, seen),
        blocks=seen.blocks,
        alarm=seen.alarm,
    )


def _log(response: Response, share: float) -> float:
    """Return ``share`` in the unit of the differences; a throughput that is a share lower is worse by this."""
    if response is Response.ERRORS:
        return share
    return -math.log1p(-min(share, 0.99)) if response is Response.THROUGHPUT else math.log1p(share)


def _share(response: Response, difference: float) -> float:
    """Undo ``_log``."""
    if response is Response.ERRORS:
        return difference
    return 1 - exp(-difference) if response is Response.THROUGHPUT else exp(difference) - 1


def _change(response: Response, seen: Watched) -> Change | None:
    if not math.isfinite(seen.mean):
        return None

    def limit(difference: float) -> float | None:
        return _share(response, difference) if math.isfinite(difference) else None

    return Change(value=_share(response, seen.mean), low=limit(seen.low), high=limit(seen.high))


def _middle(response: Response, values: Sequence[float]) -> float | None:
    if not values:
        return None
    return fmean(values) if response is Response.ERRORS else math.exp(fmean(map(math.log, values)))


def outcome_of(rulings: Sequence[Ruling], failed: FailedLaunches | None = None) -> Outcome:
    """Fail for anything confirmed; pass only if everything is clear, and no launch of the head failed."""
    failed = failed or FailedLaunches()
    if failed.confirmed or any(ruling.state is State.SLOWER for ruling in rulings):
        return Outcome.FAILED
    return Outcome.PASSED if _clear(rulings) and not failed.head else Outcome.UNDECIDED


def _clear(rulings: Sequence[Ruling]) -> bool:
    return bool(rulings) and all(ruling.state is State.CLEAR for ruling in rulings)


def _refused(race: Race, rulings: Sequence[Ruling]) -> bool:
    """Tell whether nothing may be believed: nothing of both sides was measured, or the race is void."""
    if not any(ruling.blocks for ruling in rulings):
        return True
    levels = measured_levels(race)
    if not levels:
        return not any(ruling.state is State.SLOWER for ruling in rulings)
    return not examine_race(race_view(race, levels[headline_of(levels)].key)).valid


def _needed_s(race: Race, more: Sequence[int | None]) -> float | None:
    """Return how long the blocks take that are still needed, at the pace of those made."""
    blocks = len(blocks_of(race))
    known = [each for each in more if each is not None]
    if not blocks or len(known) < len(more) or not known:
        return None
    return max(max(known), LOOKS[0] - blocks, 1) * race.elapsed_s / blocks
