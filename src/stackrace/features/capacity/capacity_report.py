"""Display of a search for capacity: progress, the answer, the lowest rate that missed the goal, and every trial."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from ...api.load.options import LoadOptions
from ...base.errors import InterruptedRace
from ...base.numbers import NOTHING, count, duration, number, percent, things
from ...base.units import DURATION
from ...cli.load.run import ProgressLine, RacedTarget
from ...cli.showing import show_result, write_text
from ...measure.engine.load_run import Goal, Miss, Missed, label
from ...measure.load import Load
from ...report.characters import meter
from ...report.exporter import Format, Kind, written
from ...report.figures import timed
from ...report.load_result import document
from ...report.openmetrics import metric, whole_text
from ...report.sheet import Column, Paragraph, Section, Table, Tone
from ...report.words import load_sentences
from ...report.words.findings import LOAD, remedy, seen
from .rate_search import Search
from .stored import keep
from .trials import LONGER, CapacityResult, Trial, find_capacity

_VERSION = "capacity-1"
_BAR = 24

_CAVEAT = (
    "This is one start of the server. It does not show how two starts, or two hours of a machine, differ. "
    "Random arrivals, like real visitors, allow less than even ones."
)


def find_and_show(
    options: LoadOptions,
    target: RacedTarget,
    goal: Goal,
    *,
    connections: int,
    seed: int,
    as_json: bool,
    openmetrics: Path | None = None,
) -> None:
    """Search for the capacity of ``target``, show the result and keep its page.

    ``openmetrics`` is a file to write, too. Raises InputError before anything is sent.

    Raises InterruptedRace after an interruption, and SystemExit(1) if no rate keeps the goal.
    """

    def watch(load: Load, warmup_s: float, search: Search | None) -> ProgressLine:
        before = "a closed loop  " if search is None else _ahead(load, warmup_s, search)
        if not (as_json or sys.stderr.isatty()):
            click.echo(before.rstrip(), err=True)
        return ProgressLine(load, warmup_s, quiet=as_json, before=before)

    with target.set_up(options) as setup:
        outcome = find_capacity(setup, goal, connections=connections, seed=seed, watch=watch)
    show_result(_KIND, outcome, as_json=as_json)
    if openmetrics is not None:
        write_text(whole_text(_metrics(outcome)), openmetrics)
    click.echo(f"The report: {keep(written(_KIND, outcome, Format.HTML))}", err=True)
    if outcome.interrupted:
        raise InterruptedRace("stopped before the capacity was known; the trials are above")
    if outcome.search.capacity is None:
        raise SystemExit(1)


def _ahead(load: Load, warmup_s: float, search: Search) -> str:
    """Return the progress in words: the rate, the trials that are left, and their length if none is repeated."""
    rate = load.rate_per_s or 1.0
    left = search.most_trials
    longer = left if search.is_close else left + (LONGER - 1) * search.refinements
    lasts = duration(longer * ((load.requests or 1) / rate + warmup_s))
    return f"trying {number(rate)}/s: {things(left, 'trial')} left, about {lasts}  "


def _sections(outcome: CapacityResult) -> Iterator[Section]:
    answer = [Paragraph(text=_headline(outcome), tone=Tone.STRONG, whole=True)]
    answer.append(Paragraph(text=_closed(outcome), whole=True))
    if (above := outcome.above) is not None:
        answer.append(Paragraph(text=_beyond(above), whole=True))
    answer += (Paragraph(text=text, tone=Tone.DOUBTFUL, whole=True) for text in _doubts(outcome))
    yield Section(title="", blocks=tuple(answer))
    if outcome.trials:
        yield Section(title="", blocks=(_table(outcome),))
    yield Section(title="", blocks=(Paragraph(text=_CAVEAT, tone=Tone.ASIDE, whole=True),))


def _headline(outcome: CapacityResult) -> str:
    search, goal = outcome.search, goal_text(outcome.goal)
    if outcome.interrupted:
        return f"Not known yet how many requests/s keep {goal}"
    if (found := search.capacity) is None:
        return f"Not even {number(search.lowest_missed or search.low)} requests/s keep {goal}"
    limits = f" ({number(found.low)} to {number(found.high)})" if found.low and found.high else ""
    return f"{'At least ' if outcome.is_least else ''}{number(found.value)} requests/s{limits} with {goal}"


def _beyond(above: Trial) -> str:
    """Return a sentence: how the lowest rate missed the goal. If requests pile up, latencies mean nothing."""
    if above.piled_up:
        return f"At {_rate(above)} requests piled up: the longer that lasts, the slower they are."
    return f"At {_rate(above)} {missed_words(above.missed[0])}."


def _closed(outcome: CapacityResult) -> str:
    """Return sentences about the result of the closed loop, and about rates that were not tried."""
    ran = outcome.closed
    latencies = ", ".join(f"{label(name)} {timed(ran.result.latency, name)}" for name in outcome.goal.limits_s)
    loop = f"A closed loop of {count(ran.load.concurrency)} connections"
    reached = f"{loop} reached {number(ran.result.throughput_per_s)}/s, with {latencies}."
    if outcome.interrupted or outcome.search.capacity is None or outcome.above is not None:
        return reached
    if math.isfinite(outcome.search.most):
        return f"{reached} There requests wait for each other: the server has no higher rate."
    return f"{reached} Much higher rates were not tried."


def _doubts(outcome: CapacityResult) -> Iterator[str]:
    if outcome.above is not None and outcome.above.doubtful:
        perhaps = f"At {_rate(outcome.above)} it may not have been the server"
        yield from (
            f"{perhaps}: {seen(finding, LOAD)}. Way out: {remedy(finding, LOAD)}"
            for finding in outcome.above.disturbed
        )
    if outcome.best is not None:
        # all findings: a cache that answers in place of the server makes a goal easy to keep
        yield from (load_sentences.warning(finding) for finding in outcome.best.ran.verdict.findings)
    yield from outcome.notes


def _rate(trial: Trial) -> str:
    return f"{number(trial.rate_per_s)}/s"


def _table(outcome: CapacityResult) -> Table:
    """Return a table with a row for each trial, lowest rate first; bars show the quantile closest to its limit."""
    trials = sorted(outcome.trials, key=lambda trial: trial.rate_per_s)
    results = [trial.ran.result for trial in trials]
    tones = tuple(Tone.WRONG if trial.missed else Tone.GOOD for trial in trials)
    # a blank keeps the column even if nothing was wrong
    wrong = (percent(one.counts.errors / one.counts.scheduled) if one.counts.errors else " " for one in results)
    bars = (meter(_share(outcome, trial) / 2, _BAR) for trial in trials)
    return Table(columns=(
        Column(title="offered/s", cells=tuple(number(trial.rate_per_s) for trial in trials)),
        Column(title="answered/s", cells=tuple(number(one.throughput_per_s) for one in results)),
        *(Column(title=label(name), cells=tuple(_timed(trial, name) for trial in trials))
          for name in outcome.goal.limits_s),
        Column(title="wrong", cells=tuple(wrong)),
        Column(title="half a bar is the goal", cells=tuple(bars), tones=tones, left=True),
        Column(title="", cells=tuple(map(_result_text, trials)), tones=tones, left=True),
    ))  # fmt: skip


def _share(outcome: CapacityResult, trial: Trial) -> float:
    latency = trial.ran.result.latency
    shares: list[float] = [getattr(latency, name) / limit for name, limit in outcome.goal.limits_s.items()]
    return max(shares)


def _timed(trial: Trial, name: str) -> str:
    return NOTHING if trial.piled_up else timed(trial.ran.result.latency, name)


def _result_text(trial: Trial) -> str:
    if trial.ran.interrupted:
        return "interrupted"
    if not trial.missed:
        return "kept"
    if trial.doubtful:
        return "missed, disturbed"
    return "piled up" if trial.piled_up else "missed"


def _document(outcome: CapacityResult) -> dict[str, object]:
    above = outcome.above
    found = None if outcome.interrupted else outcome.search.capacity
    return {
        "schema": _VERSION,
        "urls": list(outcome.closed.target.urls),
        "goal": {label(name): limit for name, limit in outcome.goal.limits_s.items()},
        "capacity_per_s": found and found.value,
        "low_per_s": found and found.low,
        "high_per_s": found and found.high,
        "at_least": outcome.is_least,
        "missed_at_per_s": outcome.search.lowest_missed,
        "missed_by": _missed_by(above) if above is not None else [],
        "doubtful": above is not None and above.doubtful,
        "interrupted": outcome.interrupted,
        "idle_s": outcome.idle_s,
        "closed": document(outcome.closed),
        "trials": [
            {"kept": not trial.missed, "missed_by": _missed_by(trial), "run": document(trial.ran)}
            for trial in outcome.trials
        ],
        "notes": list(outcome.notes),
    }


def _missed_by(trial: Trial) -> list[str]:
    return [missed_words(miss) for miss in trial.missed]


_KIND = Kind(sections=_sections, document=_document)


def _metrics(outcome: CapacityResult) -> Iterator[str]:
    """Yield the lines of the metrics; there is no value if no rate keeps the goal."""
    labels = {"urls": " ".join(outcome.closed.target.urls), "goal": goal_text(outcome.goal)}
    found = None if outcome.interrupted else outcome.search.capacity
    values: dict[str, tuple[str, float | None]] = {
        "capacity": ("Highest rate that keeps the goal, in requests per second.", found.value if found else None),
        "capacity_low": ("Lower 95 % limit of that.", found.low if found else None),
        "capacity_high": ("Upper 95 % limit of that.", found.high if found else None),
        "capacity_missed": ("Lowest rate that missed the goal.", outcome.search.lowest_missed),
    }
    for name, (about, value) in values.items():
        yield from metric(name, about, [(labels, value)])


def goal_text(goal: Goal) -> str:
    """Return the goal in words: ``p50 ≤ 10 ms and p99 ≤ 50 ms``."""
    return " and ".join(f"{label(name)} ≤ {DURATION.format(limit)}" for name, limit in goal.limits_s.items())


def missed_words(miss: Miss) -> str:
    """Return a clause that says how a goal was missed."""
    match miss.what:
        case Missed.LATENCY:
            assert miss.quantile is not None
            return f"{label(miss.quantile)} was {'at least ' if miss.is_bound else ''}{DURATION.format(miss.value)}"
        case Missed.ERRORS:
            return f"{percent(miss.value)} failed or got a wrong answer"
        case Missed.UNSENT:
            return f"{percent(miss.value)} were never sent"
        case Missed.RIGHT_ANSWERS:
            return "there was no right answer"
        case Missed.KEEPING_UP:
            return "requests piled up"
