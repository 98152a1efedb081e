"""Sentences of a finding, from its check's declaration and its facts, and sentences of a failure.

A finding with words of its own, such as advice, keeps them. The names in a remedy differ between a race file and
the command line of ``stackrace load``: ``_Knobs`` has both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from string import Formatter
from typing import Any

from ...base.numbers import LEAST, count, duration, mebibytes, number, percent, setting
from ...base.units import DURATION, SIZE
from ...base.verdict import Effect, Finding, Unit, Verdict, usual_refusal
from ...measure.host import Disturbance
from ...measure.launch import EndedBy, Failure, FailureKind, Shortfall
from ...validity.cores import contention
from ...validity.preflight import memory_limit
from ...validity.registry import DECLARATIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class _Knobs:
    """Phrases that differ between a race, the default, and a load run. Each fits into the checks' sentences."""

    server: str = "stack"
    """The measured thing."""
    servers: str = "stacks"
    """The measured things, in turn."""
    span: str = "slice"
    """The measured stretch of time."""
    verb: str = "race"
    """Verb of the command to repeat."""
    concurrency: str = "[load] concurrency"
    clients: str = "--concurrency (or [load] concurrency)"
    """First words of an error about too many clients."""
    held: str = "--silent and --idle (or [load] silent and idle)"
    """Names of the numbers of connections beside the load."""
    keep: str = "set keep_alive = true in [load]"
    """Way to keep connections open."""
    close: str = "keep_alive = false in [load], so that all stacks connect anew"
    """Way to close connections."""
    engine_core: str = "give the load engine a core that no stack uses (--engine-cores)"
    """Remedy if engine and server share a core."""
    intruder: str = "end it (if the app needs it, name it in [app] services)"
    """Remedy for another program on the engine's core."""
    another_core: str = "give the load engine one more core (--engine-cores), or let it run on another machine"
    """Way to give the engine more cores."""
    heavier: str = "race a workload that costs the app more, or on a machine with more cores"
    """Remedy if the engine has all cores it can get."""
    longer: str = "longer slices (--slice 2s)"
    """Way to measure for longer."""
    quieter: str = "use a machine with dedicated CPUs, or a larger [race] budget"
    """Remedy for a machine whose cores are taken away at times."""
    memory: str = "--memory"
    """Flag that allows a stack less memory."""
    meant_quota: str = '; or declare it to be part of the race ("quota = true" in [race], --quota)'
    """Second remedy for a CPU quota, if it can be declared; follows another remedy."""


RACE = _Knobs()

LOAD = _Knobs(
    server="server",
    servers="server",
    span="run",
    verb="load",
    concurrency="--concurrency",
    clients="--concurrency",
    held="--silent and --idle",
    keep="leave out --close",
    close="--close, so that every request connects anew",
    engine_core="bind the server to other cores (taskset), or let the engine run on another machine",
    intruder="if it is the server, bind that to other cores (taskset)",
    another_core="give the engine another core with --threads, or let it run on another machine",
    heavier="ask for a page that costs the server more, or load from a machine with more cores",
    longer="a longer run (--duration 30s)",
    quieter="use a machine with dedicated CPUs, or load again in a quieter hour",
    meant_quota="",
)


def _noun_with_numbers(noun: str, numbers: tuple[int, ...]) -> str:
    return f"{noun}{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers))}"


_FORMATS: Mapping[str, Callable[[Any], str]] = {
    "cores": lambda numbers: _noun_with_numbers("core", numbers),
    "count": count,
    "duration": DURATION.format,
    "g": setting,
    "gib": lambda size: number(size / 2**30),
    "list": ", ".join,
    "lumps": lambda sizes: "; ".join(
        f"{count(size)} requests took a little over {mark_s} s" for mark_s, size in sizes.items()
    ),
    "mib": mebibytes,
    "moved": lambda change: f"{'rose' if change > 0 else 'fell'} by {percent(abs(change))}",
    "p": lambda p: f"p < {LEAST}" if 0 < p < LEAST else f"p = {number(p)}",
    "pace": lambda change: f"{percent(abs(change))} {'faster' if change > 0 else 'slower'}",
    "percent": percent,
    "ports": lambda numbers: _noun_with_numbers("port", numbers),
    "size": SIZE.format,
    "stages": lambda numbers: ", ".join(f"{number} at {stage}" for stage, number in numbers.items()),
    "tally": lambda numbers: ", ".join(f"{number} × {name}" for name, number in numbers.items()),
}
"""Formats for values in templates, beside Python's own."""

_LIMITS: Mapping[Unit, Callable[[float], str]] = {
    Unit.COUNT: count,
    Unit.SHARE: percent,
    Unit.SECONDS: DURATION.format,
    Unit.BYTES: SIZE.format,
    Unit.PAGES: lambda limit: f"{count(limit)} pages",
    Unit.PER_SECOND: lambda limit: f"{count(limit)}/s",
    Unit.BYTES_PER_SECOND: lambda limit: f"{count(limit / 2**20)} MiB/s",
    Unit.SHARE_PER_SECOND: lambda limit: f"{percent(limit)} per second",
    Unit.PROBABILITY: setting,
    Unit.INDEX: setting,
    Unit.RATIO: setting,
}


class _Formatter(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        written = _FORMATS.get(format_spec)
        return written(value) if written else str(super().format_field(value, format_spec))


_FORMATTER = _Formatter()


def title(finding: Finding) -> str:
    """Return the title of the finding's check."""
    return check_title(finding.check)


def check_title(check: str) -> str:
    """Return the title of the check with this id; without a declaration, ``check`` is a title already."""
    declared = DECLARATIONS.get(check)
    return declared.title if declared else check


def seen(finding: Finding, knobs: _Knobs = RACE) -> str:
    """Return the measured facts in a sentence."""
    declared = DECLARATIONS.get(finding.check)
    if finding.seen or declared is None:
        return finding.seen
    return _filled(declared.seen, finding.case, finding, knobs)


def remedy(finding: Finding, knobs: _Knobs = RACE) -> str:
    """Return the remedy."""
    declared = DECLARATIONS.get(finding.check)
    if finding.remedy or declared is None:
        return finding.remedy
    return _filled(declared.remedy, finding.cure, finding, knobs)


def threshold(finding: Finding, knobs: _Knobs = RACE) -> str:
    """Return the limit in words."""
    declared = DECLARATIONS.get(finding.check)
    if finding.threshold or declared is None:
        return finding.threshold
    if declared.threshold:
        return _filled(declared.threshold, finding.case, finding, knobs)
    if not finding.limit:
        return "none"
    return f"at {'least' if declared.least else 'most'} {_limit_in_words(finding.unit, finding.limit)}"


def warning(finding: Finding, knobs: _Knobs = RACE) -> str:
    """Return the measured facts and the remedy in one sentence."""
    return f"{seen(finding, knobs)}: {remedy(finding, knobs)}"


def refusal(finding: Finding, knobs: _Knobs = RACE) -> str:
    """Return the clause about why nothing is started, which begins with the option to change."""
    clients = knobs.held if finding.facts.get("held") else knobs.clients
    option = knobs.memory if finding.check == memory_limit.declaration.id else clients
    lead = f"{option}: {seen(finding, knobs)}, {threshold(finding, knobs)}"
    return f"{lead}; {remedy(finding, knobs)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingDocument:
    """One check's complaint in a JSON document: its values, and its sentences."""

    id: str
    """Id of the check."""
    check: str
    """Title of the check."""
    effect: Effect
    """Consequence for the measurement."""
    value: float | None = field(metadata={"signed": True})
    """Measured value, in ``unit``."""
    limit: float | None = field(metadata={"signed": True})
    """Limit that ``value`` crossed."""
    unit: Unit
    """Unit of `value` and `limit`."""
    seen: str
    """Measured facts in words."""
    threshold: str
    """Limit in words."""
    remedy: str
    """Remedy."""


def finding_document(finding: Finding, knobs: _Knobs = RACE) -> FindingDocument:
    """Return ``finding`` for a JSON document."""
    return FindingDocument(
        id=finding.check,
        check=title(finding),
        effect=finding.effect,
        value=finding.value,
        limit=finding.limit,
        unit=finding.unit,
        seen=seen(finding, knobs),
        threshold=threshold(finding, knobs),
        remedy=remedy(finding, knobs),
    )


def _limit_in_words(unit: Unit, limit: float) -> str:
    return _LIMITS[unit](limit)


def _filled(texts: str | Mapping[str, str], key: str, finding: Finding, knobs: _Knobs) -> str:
    """Return the declared text with its values; a stored finding that lacks some is shown plainly."""
    values = {**finding.facts, "value": finding.value, "limit": finding.limit, "knob": knobs}
    try:
        return _FORMATTER.vformat(texts if isinstance(texts, str) else texts[key], (), values)
    except (AttributeError, LookupError, TypeError, ValueError):
        return f"{finding.value} where the limit is {finding.limit} ({finding.unit})"


_KINDS: Mapping[FailureKind, str] = {
    FailureKind.NOT_STARTED: "did not start",
    FailureKind.NOT_READY: "never became ready",
    FailureKind.WRONG_ANSWER: "gave a wrong answer",
    FailureKind.DIED: "died under load",
    FailureKind.NOT_STOPPED: "ignored the request to stop",
    FailureKind.REFUSED: "gave no believable measurement",
    FailureKind.INTERRUPTED: "was cut short with its race",
    FailureKind.UNMEASURED: "got no measurement",
}
_INTERRUPTED = "Its block was interrupted, and is raced again."
_UNEXPLAINED = "Stackrace recorded no reason for that. Please report it."

_ENDED_BY: Mapping[EndedBy, str] = {
    EndedBy.BUDGET: "the budget was over",
    EndedBy.SHARE: "its share of the budget was over",
    EndedBy.BUSY: "other programs had the cores until the budget was over",
    EndedBy.INTERRUPTED: "the race was interrupted",
    EndedBy.ERROR: "the race broke off",
    EndedBy.LOST: "the machine was lost",
    EndedBy.DISTURBED: "in each of its blocks other programs took the cores from another stack, so none counts",
    EndedBy.UNEQUAL: "its blocks were raced on a machine with other ratios than the rest, and count nowhere",
    EndedBy.ANSWERED: "the question was answered",
    EndedBy.COMPLETED: "all runs were made",
    EndedBy.EXHAUSTED: "all other stacks had failed",
    EndedBy.HOPELESS: "the rest of the budget was unlikely to decide",
}

_SPENT_ON = {
    "resting_s": "waiting for the stacks to rest",
    "waiting_s": "waiting until other programs left the race's cores",
    "starting_s": "waiting for other stacks to start",
    "warming_s": "warming up",
    "stopping_s": "waiting for stacks to stop",
}
"""Waits that keep a launch from a slice; all other time is spent on measuring other cells."""


def failure_kind(failure: Failure) -> str:
    """Return the failure as a predicate: ``did not start``."""
    return _KINDS[failure.kind]


_NO_CONNECTION = re.compile(
    r"too many clients already|TooManyConnections|remaining connection slots|Too many connections", re.IGNORECASE
)
"""Text in the log of an app whose database accepts no further connection."""
_ALL_STAND = (
    ": its database has no connection left, since all stacks of a race stand side by side; raise the database's "
    "max_connections, or race fewer stacks"
)


def failure_message(failure: Failure, there: str = "") -> str:
    """Return the details of the failure, for one level ``there``; empty if the kind of failure says it all."""
    if failure.before is not None:
        before = replace(failure, kind=failure.before, before=None, shortfall=None)
        cut = failure_message(replace(failure, before=None))
        return f"{cut} Before, it {failure_kind(before)}: {failure_message(before)}"
    if failure.kind is FailureKind.INTERRUPTED:
        return _INTERRUPTED if failure.shortfall is None else f"{shortfall_words(failure.shortfall)}."
    why = failure.message + (_ALL_STAND if _NO_CONNECTION.search(failure.log) else "")
    if failure.finding is not None:
        why = f"{seen(failure.finding).rstrip('.')}. Way out: {remedy(failure.finding)}"
    if failure.kind is not FailureKind.UNMEASURED:
        return why
    if failure.shortfall is None:
        return _UNEXPLAINED
    words = shortfall_words(failure.shortfall)
    if failure.finding is not None:
        return f"{words}: {why}"
    if failure.launches:
        launches = f"{count(failure.launches)} launch{'' if failure.launches == 1 else 'es'}"
        return f"{launches} ended before a slice{there}: {words}"
    return f"{words} before its turn"


def shortfall_words(why: Shortfall) -> str:
    """Return the reason for a launch's missing slices, as a clause."""
    words = _ENDED_BY[why.ended_by] + (f" ({why.words.rstrip('.')})" if why.words else "")
    name, spent_s = max(why.spent_s.items(), key=lambda item: item[1], default=("", 0.0))
    if why.ended_by not in (EndedBy.BUDGET, EndedBy.SHARE) or not spent_s:
        return words
    return f"{words} after {duration(spent_s)} of {_SPENT_ON.get(name, 'measuring other cells')}"


_CONTENTION = contention.declaration.id


def disturbed(disturbance: Disturbance) -> str:
    """Return the clause about the program that uses the race's cores."""
    who = f"{disturbance.offenders[0].label} has" if disturbance.offenders else "other programs have"
    return f"waiting for quiet: {who} {percent(disturbance.share)} of the race's cores"


def busy(verdicts: Iterable[Verdict]) -> str:
    """Return the clause that other programs kept the machine busy; empty if slices had other faults."""
    every = list(verdicts)
    usual = usual_refusal(every)
    if usual is None or not DECLARATIONS[usual.check].passing:
        return ""
    # the most serious finding that names the program, if there is one
    named = [finding for verdict in every for finding in verdict.findings if finding.check == _CONTENTION]
    refused = max(named, key=lambda finding: finding.value or 0.0, default=usual)
    return f"this machine is busy: {seen(refused)}; nothing could be measured; {remedy(refused)}"
