"""Sentences and table cells about a check."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ...base import numbers
from ...base.numbers import (
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
from ...race.judge.looks import LOOKS
from ...race.results.comparison import Outcome, Response, Ruling, State
from ...race.results.race import Ending, Race
from ...report.figures import listed
from ...report.words.findings import failure_kind, shortfall_words
from ...report.words.race_words import version_words
from ...stacks.stack import Side, side_of
from .model import Contender, GateAnswer, GateFacts, gate_of
from .tails import least_answers

HEADER = ("", "base", "head", "change", "allowed", "not ruled out", "")
"""Column titles of `cells`."""


def _in_ms(seconds: float) -> str:
    return f"{milliseconds(seconds)} ms"


class _Way(NamedTuple):
    name: str
    worse: str
    """Word for a worse value: lower, more, longer."""
    value: Callable[[float], str]
    """Function that formats a value with its unit."""


_WAYS = {
    Response.THROUGHPUT: _Way("throughput", "lower", lambda per_s: f"{number(per_s)}/s"),
    Response.CPU: _Way("CPU per request", "more", _in_ms),
    Response.P99: _Way("p99", "longer", _in_ms),
    Response.P90: _Way("p90", "longer", _in_ms),
    Response.P50: _Way("p50", "longer", _in_ms),
    Response.MEMORY: _Way("memory", "more", lambda size: f"{mebibytes(size)} MiB"),
    Response.ERRORS: _Way("errors", "more", percent),
    Response.START: _Way("start time", "longer", duration),
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
    """Return the answer in one or two sentences; a server upgrade is named first."""
    upgraded = listed(gate_of(race).upgraded)
    before = f"A server upgrade: {upgraded}, with your app and settings. " if upgraded else ""
    return before + _answer(race, result)


def _answer(race: Race, result: GateAnswer) -> str:
    match result.outcome:
        case Outcome.PASSED:
            return f"Passed: the head is not slower than the base. {_missed(result.rulings)}"
        case Outcome.FAILED:
            launches = [failed(race, result)] if result.failed.confirmed else []
            pages = [_changing(result)] if result.changing.confirmed else []
            return f"Failed: {'; '.join([*launches, *pages, *map(_slower, result.slower)])}."
        case Outcome.REFUSED:
            return "Refused: the measurements are not valid, so there is no answer."
    parts = (f"Undecided: {_cause(race, result)}.", _open(result), _more(race, result))
    return " ".join(filter(None, parts))


def _more(race: Race, result: GateAnswer) -> str:
    if result.needed_s is None:
        unknown = any(each.missed is None and (each.answers or each.change) for each in result.unsettled)
        more = f"{'How much more time would decide it is unknown' if unknown else 'More time would not decide it'}."
    else:
        whole_s = race.elapsed_s + result.needed_s
        option = f" (--budget {math.ceil(whole_s / 60)}min)" if whole_s > (race.budget_s or 0.0) else ""
        more = f"About {about(result.needed_s)} more would probably decide it{option}."
    is_slow = bool(result.unsettled) and all(each.response.quantile is not None for each in result.unsettled)
    if result.failed.head or not is_slow:
        return more
    # nothing else is open: a slow page gives few answers
    highest = result.unsettled[0].response
    other = Response.P90 if highest is Response.P99 else Response.P50
    instead = "" if highest is Response.P50 else f"; to judge {_WAYS[other].name} instead, add --allow '{other} 5%'"
    return f"{more} To leave it out: --allow '{highest} any'{instead}."


def _cause(race: Race, result: GateAnswer) -> str:
    if race.ending is Ending.INTERRUPTED:
        return "the check was interrupted"
    if result.failed.head:
        return f"{failed(race, result)}, which rules out a pass, but does not show that the change is the reason"
    if result.failed.base and race.ending in (Ending.ANSWERED, Ending.EXHAUSTED):
        return f"{failed(race, result)}, so there is nothing to compare with"
    if result.changing.names:
        return f"{_changing(result)}, which rules out a pass"
    if unknown := [name(each) for each in result.rulings if each.state is State.UNKNOWN and not each.answers]:
        return f"{listed(unknown)} could not be measured"
    cut = [each.shortfall for each in race.launches if each.shortfall is not None and not each.slices]
    if cut and 2 * result.valid < result.blocks:
        return f"launches ended before a slice: {shortfall_words(cut[-1])}"
    if 2 * result.valid < result.blocks:
        return f"{count(result.blocks - result.valid)} of {things(result.blocks, 'pair')} of launches were refused"
    return _waiting(race) or "there was too little time"


def failed(race: Race, result: GateAnswer) -> str:
    """Return words that say how many launches of each side failed, and how."""
    launches = [each for each in race.launches if not each.cut_short]
    how = dict.fromkeys(failure_kind(each.failure) for each in launches if each.failure is not None)

    def of(side: Side, number: int) -> str:
        made = sum(side_of(each.stack) is side for each in launches)
        return f"{number or 'none'} of the {side}'s {count(made)} launches"

    head, base = of(Side.HEAD, result.failed.head), of(Side.BASE, result.failed.base)
    return f"{head} failed ({listed(list(how))}), and {base}"


def _changing(result: GateAnswer) -> str:
    """Return words about the pages that change in the head alone, with the option that declares a right answer."""
    names = result.changing.names
    one = len(names) == 1
    page = names[0].partition(" ")[2]
    return (
        f"{listed(list(names))} {'answers' if one else 'answer'} the same question in different ways in "
        "the head's app itself, and never in the base's (where that is right: "
        f"--check '{page} status', or a text it must contain)"
    )


def _missed(rulings: Sequence[Ruling]) -> str:
    """Return a sentence with the slowdowns that a passed check would have found."""
    limits = [f"{_missed_by(each)} in {name(each)}" for each in rulings if each.missed is not None]
    return f"A change for the worse of more than {_either(limits)} would have been found."


def _either(things: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(things[:-1]), *things[-1:])))


def _missed_by(each: Ruling) -> str:
    assert each.missed is not None
    return _share(each.response, max(each.missed, 0.0))


def _slower(each: Ruling) -> str:
    assert each.change is not None
    confirmed = f"confirmed by {things(each.blocks, 'fresh pair')} of launches after an alarm"
    amount = _share(each.response, each.change.value)
    where = f" on {each.workload}" if each.workload else ""
    found = (
        f"{amount} more requests fail{where}"
        if each.response is Response.ERRORS
        else f"{name(each)} is {amount} {_WAYS[each.response].worse}"
    )
    return (
        f"{found}, at least "
        f"{_share(each.response, each.change.low or 0.0)}, where {_share(each.response, each.terms.allowance)} is "
        f"allowed{_growing(each)}; {confirmed}"
    )


def _growing(each: Ruling) -> str:
    if each.growth is None:
        return ""
    if not each.growth.proved:
        return "; no growth with requests was seen"
    head, base = (mebibytes(1000 * max(each, 0.0)) for each in (each.growth.head_bytes, each.growth.base_bytes))
    return f"; it grows by {head} MiB per 1,000 requests, the base's by {base}"


def _open(result: GateAnswer) -> str:
    text = "; ".join(map(_unsettled, result.unsettled))
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _unsettled(each: Ruling) -> str:
    if each.state is State.ALARM:
        since = "since then " if each.blocks else ""
        by = "" if each.change is None else f" ({since}{_natural(each.response, each.change.value)})"
        return f"an alarm about {name(each)} is neither confirmed nor ruled out{by}{_growing(each)}"
    if each.response.quantile is not None and each.missed is None and each.answers:
        least = LOOKS[0] * least_answers(each.response.quantile)
        if each.answers < least:
            came = f"{count(each.answers)} of each side came, and {count(least)} are the least"
            return f"{name(each)} needs more answers: {came}"
    if each.state is State.UNKNOWN or each.missed is None:
        return f"nothing is known of {name(each)}"
    limit = _share(each.response, each.terms.limit)
    return f"{name(each)} may be {_missed_by(each)} worse (limit: {limit}){_growing(each)}"


def name(each: Ruling) -> str:
    """Return the name of a response, with its workload if there are several."""
    own = _WAYS[each.response].name
    return f"{own} on {each.workload}" if each.workload else own


def cells(each: Ruling) -> tuple[str, ...]:
    """Return the cells of a response's row, in the order of ``HEADER``."""
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
    return NOTHING if of is None else _WAYS[response].value(of)


def change(each: Ruling) -> str:
    """Return the change with the sign of the response itself: a throughput that is worse has a minus."""
    if each.change is None:
        return NOTHING
    middle = _natural(each.response, each.change.value)
    limits = [_natural(each.response, limit) for limit in (each.change.low, each.change.high) if limit is not None]
    if len(limits) < 2:
        return middle
    low, high = reversed(limits) if each.response is Response.THROUGHPUT else limits
    return f"{middle} ({low} to {high})"


def allowed(each: Ruling) -> str:
    """Return the allowance, with the sign of the response itself."""
    return _natural(each.response, each.terms.allowance)


def ruling(each: Ruling) -> str:
    """Return the state of a response in one or two words."""
    return _STATES[each.state]


def _natural(response: Response, share: float) -> str:
    """Return a slowdown with the sign of the response itself: +3 % CPU, −3 % throughput."""
    turned = -share if response is Response.THROUGHPUT else share
    return f"{'−' if turned < 0 else '+'}{_share(response, abs(share))}"


def _share(response: Response, share: float) -> str:
    """Return a share in per cent; for errors, which are shares themselves, in percentage points."""
    return points(share) if response is Response.ERRORS else numbers.change(share)


def contender(side: Contender, other: Contender) -> str:
    """Return the description of a side: its commit, its stack if the other side has another one, its versions."""
    words = [side.label]
    if side.revision:
        changed = f" with {things(side.changed, 'changed file')}" if side.changed else ""
        words[0] += f" ({side.revision[:10]}{changed})"
    if side.stack != other.stack:
        words.append(side.stack)
    return ", ".join(filter(None, (*words, version_words(side.versions))))


def side_notes(facts: GateFacts) -> tuple[str, ...]:
    """Return sentences that describe base and head, and the packages that differ."""
    sides = f"Base: {contender(facts.base, facts.head)}.", f"Head: {contender(facts.head, facts.base)}."
    if facts.packages in ((), facts.upgraded):
        return sides
    shown, rest = facts.packages[:_MOST_PACKAGES], len(facts.packages) - _MOST_PACKAGES
    more = f" and {things(rest, 'other package')}" if rest > 0 else ""
    return *sides, f"Packages differ: {', '.join(shown)}{more}."


def details(race: Race, result: GateAnswer) -> str:
    """Return the sentences about the measurements that the answer rests on."""
    load = race.loads[0]
    stack = gate_of(race).head.stack
    took = f"{things(result.blocks, 'pair')} of launches in {duration(race.elapsed_s)}"
    waited = f", of which {waiting}" if (waiting := _waiting(race)) else ""
    return (
        f"{stack} at {load.label}, {took}{waited}. "
        "The limits allow for looking again and again; a slowdown counts once fresh launches confirm it."
    )


_MUCH = 0.05
"""Share of a check's time from which on waiting for other programs is mentioned."""


def _waiting(race: Race) -> str:
    """Return words that say how long other programs used the cores; empty if that was short."""
    if race.duty is None or race.duty.waiting_s < _MUCH * race.duty.total_s or not race.duty.waiting_s:
        return ""
    return f"{duration(race.duty.waiting_s)} went by waiting until other programs left the race's cores"


def warned(warnings: Mapping[str, int]) -> str:
    """Return a sentence with the checks that warned; warnings concern both sides, so they only widen limits."""
    kinds = [f"{check} ({count(times)})" for check, times in sorted(warnings.items(), key=lambda pair: -pair[1])]
    return f"Warnings about slices of either side: {', '.join(kinds)}."
