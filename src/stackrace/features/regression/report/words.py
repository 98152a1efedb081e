"""What a check says, in sentences and cells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ....base import numbers
from ....base.numbers import (
    NOTHING,
    about,
    count,
    duration,
    mebibytes,
    milliseconds,
    number,
    percent,
    points,
    things,
)
from ....race.results.comparison import Change, Outcome, Response, Ruling, State
from ....race.results.race import Ending, Race
from ....report.figures import listed
from ....report.words.findings import failure_kind
from ....stacks.stack import Side, side_of
from ..model import Contender, GateAnswer, GateFacts, gate_of
from ..stats import LOOKS
from ..tails import least_answers

HEADER = ("", "base", "head", "change", "allowed", "not ruled out", "")
"""The titles of `cells`."""

_NAMES = {
    Response.THROUGHPUT: "throughput",
    Response.CPU: "CPU per request",
    Response.P99: "p99",
    Response.P90: "p90",
    Response.P50: "p50",
    Response.MEMORY: "memory",
    Response.ERRORS: "errors",
    Response.START: "start time",
}

_WORSE = {
    Response.THROUGHPUT: "lower",
    Response.CPU: "more",
    Response.P99: "longer",
    Response.P90: "longer",
    Response.P50: "longer",
    Response.MEMORY: "more",
    Response.START: "longer",
}

_MOST_PACKAGES = 8

_STATES = {
    State.CLEAR: "ok",
    State.SLOWER: "SLOWER",
    State.ALARM: "alarm",
    State.OPEN: "open",
    State.UNKNOWN: "not measured",
}


def answer(race: Race, result: GateAnswer) -> str:
    """Return the answer in one sentence or two."""
    match result.outcome:
        case Outcome.PASSED:
            return f"Passed: the head is not slower than the base. {_missed(result.rulings)}"
        case Outcome.FAILED:
            launches = [failed(race, result)] if result.failed.confirmed else []
            return f"Failed: {'; '.join([*launches, *map(_slower, result.slower)])}."
        case Outcome.REFUSED:
            return "Refused: the measurements are not valid, so there is no answer."
    parts = (f"Undecided: {_cause(race, result)}.", _open(result), _more(race, result))
    return " ".join(filter(None, parts))


def _more(race: Race, result: GateAnswer) -> str:
    """Say how much more time would decide it, and what else might."""
    if result.needed_s is None:
        more = "More time would not decide it."
    else:
        whole_s = race.elapsed_s + result.needed_s
        option = f" (--budget {math.ceil(whole_s / 60)}min)" if whole_s > (race.budget_s or 0.0) else ""
        more = f"About {about(result.needed_s)} more would probably decide it{option}."
    tails = [each for each in result.rulings if each.response.quantile is not None]
    is_open = [each for each in result.rulings if each.state not in (State.CLEAR, State.SLOWER)]
    if result.failed.head or not is_open or not all(each in tails for each in is_open):
        return more
    # nothing else is open: a slow page gives few answers
    highest = is_open[0].response
    other = Response.P90 if highest is Response.P99 else Response.P50
    instead = "" if highest is Response.P50 else f"; to judge {_NAMES[other]} instead, add --allow '{other} 5%'"
    return f"{more} To leave it out: --allow '{highest} any'{instead}."


def _cause(race: Race, result: GateAnswer) -> str:
    """Say why a check says neither yes nor no."""
    if race.ending is Ending.INTERRUPTED:
        return "the check was interrupted"
    if result.failed.head:
        return f"{failed(race, result)}, which rules out a pass, but does not show that the change is the reason"
    if result.failed.base and race.ending in (Ending.ANSWERED, Ending.EXHAUSTED):
        return f"{failed(race, result)}, so there is nothing to compare with"
    if unknown := [name(each) for each in result.rulings if each.state is State.UNKNOWN and not each.answers]:
        return f"{listed(unknown)} could not be measured"
    if 2 * result.valid < result.blocks:
        return f"{count(result.blocks - result.valid)} of {things(result.blocks, 'pair')} of launches were refused"
    return "there was too little time"


def failed(race: Race, result: GateAnswer) -> str:
    """Say how many launches of each side failed, and how."""
    launches = [each for each in race.launches if not each.cut_short]
    how = dict.fromkeys(failure_kind(each.failure) for each in launches if each.failure is not None)

    def of(side: Side, number: int) -> str:
        made = sum(side_of(each.stack) is side for each in launches)
        return f"{number or 'none'} of the {side}'s {count(made)} launches"

    head, base = of(Side.HEAD, result.failed.head), of(Side.BASE, result.failed.base)
    return f"{head} failed ({listed(list(how))}), and {base}"


def _missed(rulings: Sequence[Ruling]) -> str:
    """Say the smallest slowdowns that a check that passes would have found for sure."""
    limits = [f"{_missed_by(each)} in {name(each)}" for each in rulings if each.missed is not None]
    return f"A change for the worse of more than {_either(limits)} would have been found."


def _either(things: Sequence[str]) -> str:
    """Write ``a, b or c``."""
    return " or ".join(filter(None, (", ".join(things[:-1]), *things[-1:])))


def _missed_by(each: Ruling) -> str:
    assert each.missed is not None
    return _share(each.response, max(each.missed, 0.0))


def _slower(each: Ruling) -> str:
    assert each.change is not None
    again = f"confirmed by {things(each.blocks, 'fresh pair')} of launches after an alarm"
    amount = _share(each.response, each.change.value)
    where = f" on {each.workload}" if each.workload else ""
    found = (
        f"{amount} more requests fail{where}"
        if each.response is Response.ERRORS
        else f"{name(each)} is {amount} {_WORSE[each.response]}"
    )
    return (
        f"{found}, at least "
        f"{_share(each.response, each.change.low or 0.0)}, where {_share(each.response, each.terms.allowance)} is "
        f"allowed{_growing(each)}; {again}"
    )


def _growing(each: Ruling) -> str:
    """Say of memory whether it grows without end, or was more from the beginning."""
    if each.growth is None:
        return ""
    if not each.growth.proved:
        return "; no growth with requests was seen"
    head, base = (mebibytes(1000 * max(each, 0.0)) for each in (each.growth.head_bytes, each.growth.base_bytes))
    return f"; it grows by {head} MiB per 1,000 requests, the base's by {base}"


def _open(result: GateAnswer) -> str:
    """Say what has not been settled, and what would have been seen."""
    parts = []
    for each in result.rulings:
        if each.state in (State.CLEAR, State.SLOWER):
            continue
        if each.state is State.ALARM:
            since = "" if each.change is None else f" ({_natural(each.response, each.change.value)})"
            since = since.replace("(", "(since then ") if each.blocks else since
            parts.append(f"an alarm about {name(each)} is neither confirmed nor ruled out{since}{_growing(each)}")
        elif each.response.quantile is not None and each.missed is None and each.answers:
            least = LOOKS[0] * least_answers(each.response.quantile)
            parts.append(
                f"{name(each)} needs more answers: {count(each.answers)} of each side came, and {count(least)} are "
                "the least"
            )
        elif each.state is State.UNKNOWN or each.missed is None:
            parts.append(f"nothing is known of {name(each)}")
        else:
            parts.append(
                f"{name(each)} may be {_missed_by(each)} worse (limit: {_share(each.response, each.terms.limit)})"
                f"{_growing(each)}"
            )
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}." if parts else ""


def name(each: Ruling) -> str:
    """Name a response, with its workload where there are several."""
    own = _NAMES[each.response]
    return f"{own} on {each.workload}" if each.workload else own


def cells(each: Ruling) -> tuple[str, ...]:
    """Return a row below ``HEADER``."""
    return (
        name(each),
        _value(each.response, each.base),
        _value(each.response, each.head),
        change(each),
        allowed(each),
        NOTHING if each.missed is None else _natural(each.response, max(each.missed, 0.0)),
        ruling(each),
    )


def _value(response: Response, of: float | None) -> str:
    """Write a value with its unit."""
    if of is None:
        return NOTHING
    match response:
        case Response.THROUGHPUT:
            return f"{number(of)}/s"
        case Response.MEMORY:
            return f"{mebibytes(of)} MiB"
        case Response.ERRORS:
            return percent(of)
        case Response.START:
            return duration(of)
    return f"{milliseconds(of)} ms"


def change(each: Ruling) -> str:
    """Write the change as the response itself changed: a throughput that is worse has a minus."""
    if each.change is None:
        return NOTHING
    middle = _natural(each.response, each.change.value)
    found = _turned(each)
    if found.low is None or found.high is None:
        return middle
    low, high = (_signed(limit, each.response) for limit in (found.low, found.high))
    return f"{middle} ({low} to {high})"


def _turned(each: Ruling) -> Change:
    assert each.change is not None
    if each.response is not Response.THROUGHPUT:
        return each.change
    low, high = each.change.low, each.change.high
    return Change(value=-each.change.value, low=None if high is None else -high, high=None if low is None else -low)


def allowed(each: Ruling) -> str:
    """Write what is allowed."""
    return _natural(each.response, each.terms.allowance)


def ruling(each: Ruling) -> str:
    """Say in a word what is known."""
    return _STATES[each.state]


def _natural(response: Response, share: float) -> str:
    """Write a share of worse, signed as the response is: +3 % CPU, −3 % throughput."""
    turned = -share if response is Response.THROUGHPUT else share
    return _signed(turned, response)


def _signed(share: float, response: Response) -> str:
    return f"{'−' if share < 0 else '+'}{_share(response, abs(share))}"


def _share(response: Response, share: float) -> str:
    """Write a share; of errors what it is a difference of is a share already."""
    return points(share) if response is Response.ERRORS else numbers.change(share)


def contender(side: Contender, other: Contender) -> str:
    """Say what a side was: its commit, and what it does not share with the other."""
    words = [side.label]
    if side.revision:
        changed = f" with {things(side.changed, 'changed file')}" if side.changed else ""
        words[0] += f" ({side.revision[:10]}{changed})"
    if side.python and side.python != other.python:
        words.append(f"Python {side.python}")
    if side.stack != other.stack:
        words.append(side.stack)
    return ", ".join(words)


def side_notes(facts: GateFacts) -> tuple[str, ...]:
    """Say what base and head were, and which packages differ."""
    sides = f"Base: {contender(facts.base, facts.head)}.", f"Head: {contender(facts.head, facts.base)}."
    if not facts.packages:
        return sides
    shown, rest = facts.packages[:_MOST_PACKAGES], len(facts.packages) - _MOST_PACKAGES
    more = f" and {things(rest, 'other package')}" if rest > 0 else ""
    return *sides, f"Lock files differ: {', '.join(shown)}{more}."


def details(race: Race, result: GateAnswer) -> str:
    """Say on what the answer rests."""
    load = race.loads[0]
    stack = gate_of(race).head.stack
    return (
        f"{stack} at {load.label}, {count(result.blocks)} pairs of launches in {duration(race.elapsed_s)}. "
        "The limits allow for looking again and again; a slowdown counts once fresh launches confirm it."
    )


def warned(warnings: Mapping[str, int]) -> str:
    """Say which checks warned; both sides met the same machine, so warnings widen limits rather than deceive."""
    kinds = [f"{check} ({count(times)})" for check, times in sorted(warnings.items(), key=lambda pair: -pair[1])]
    return f"Warnings about slices of either side: {', '.join(kinds)}."
