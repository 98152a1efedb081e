"""A search for capacity as it is shown: its progress, the answer, what lies above that, and every rate tried."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ...api.load.options import LoadOptions
from ...base.errors import InterruptedRace
from ...base.numbers import count, duration, number, percent
from ...base.text import one_line
from ...base.units import DURATION
from ...cli.load.run import ProgressLine, RacedTarget
from ...cli.showing import print_document, print_parts
from ...measure.engine.load_run import Goal, Miss, Missed, label
from ...measure.load import Load
from ...report.characters import meter
from ...report.figures import timed
from ...report.load_result import document
from ...report.words import load_run
from ...report.words.findings import LOAD, remedy, seen
from .search import HIGH, LOW, REST_S, CapacityResult, Search, Trial, find_capacity

_VERSION = "capacity-1"
_BAR = 24

_CAVEAT = (
    "This is one start of the server. It does not show how two starts, or two hours of a machine, differ. "
    "Random arrivals, like real visitors, allow less than even ones."
)


def find_and_show(
    options: LoadOptions, target: RacedTarget, goal: Goal, *, connections: int, seed: int, as_json: bool
) -> None:
    """Do what ``stackrace capacity`` was asked for. Raises InputError before anything is sent."""

    def watch(load: Load, warmup_s: float, search: Search | None) -> ProgressLine:
        before = "" if search is None else _ahead(load, warmup_s, search)
        return ProgressLine(load, warmup_s, quiet=as_json, before=before)

    with target.set_up(options) as setup:
        outcome = find_capacity(setup, goal, connections=connections, seed=seed, watch=watch)
    if as_json:
        print_document(_document(outcome))
    else:
        print_parts(_parts(outcome))
    if outcome.interrupted:
        raise InterruptedRace("stopped before the capacity was known; the trials are above")
    if outcome.search.capacity is None:
        raise SystemExit(1)


def _ahead(load: Load, warmup_s: float, search: Search) -> str:
    """Say where the search is, and how long the trials that are left take at most if each is made once."""
    rate = load.rate_per_s or 1.0
    each_s = (load.requests or 1) / rate + warmup_s + REST_S
    left = search.most_trials
    return f"{number(rate)}/s, {left} of such left, {duration(left * each_s)} at most  "


def _parts(outcome: CapacityResult) -> Iterator[RenderableType]:
    yield Text(_headline(outcome), style="bold")
    yield Text(one_line(_closed(outcome)))
    if (above := outcome.above) is not None:
        yield Text(one_line(f"At {_rate(above)} {missed_words(above.missed[0])}."))
    yield from (Text(one_line(line), style="yellow") for line in _doubts(outcome))
    if outcome.trials:
        yield Text()
        yield _table(outcome)
    yield Text()
    yield Text(_CAVEAT, style="dim")


def _headline(outcome: CapacityResult) -> str:
    search, above, goal = outcome.search, outcome.above, goal_text(outcome.goal)
    if outcome.interrupted:
        return f"Not known yet how many requests/s keep {goal}"
    if search.capacity is None:
        return f"Not even {number(search.low)} requests/s keep {goal}"
    at_least = "At least " if above is None or above.doubtful else ""
    return f"{at_least}{number(search.capacity)} requests/s with {goal}"


def _closed(outcome: CapacityResult) -> str:
    """What a closed loop reached before the search, and what was not tried."""
    ran = outcome.closed
    latencies = ", ".join(f"{label(name)} {timed(ran.result.latency, name)}" for name in outcome.goal.limits_s)
    loop = f"A closed loop of {count(ran.load.concurrency)} connections"
    reached = f"{loop} reached {number(ran.result.throughput_per_s)}/s, with {latencies}."
    if outcome.interrupted:
        return reached
    if outcome.above is None:
        return f"{reached} Rates above {HIGH:g} of that were not tried; more connections (-c) may reach more."
    if outcome.best is None:
        return f"{reached} Rates below {LOW:g} of that were not tried; give this server a slower goal."
    return reached


def _doubts(outcome: CapacityResult) -> Iterator[str]:
    """What makes the answer less than it seems."""
    if outcome.above is not None and outcome.above.doubtful:
        perhaps = f"At {_rate(outcome.above)} it may not have been the server"
        yield from (
            f"{perhaps}: {seen(finding, LOAD)}. Way out: {remedy(finding, LOAD)}"
            for finding in outcome.above.disturbed
        )
    if outcome.best is not None:
        # all of them: a cache that answers in the server's place makes a goal easy to keep
        yield from (load_run.warning(finding) for finding in outcome.best.ran.verdict.findings)
    yield from outcome.notes


def _rate(trial: Trial) -> str:
    return f"{number(trial.rate_per_s)}/s"


def _table(outcome: CapacityResult) -> Table:
    """One row for each trial, slowest rate first; the bar is that quantile which comes closest to its limit."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("offered/s", justify="right")
    table.add_column("answered/s", justify="right")
    for name in outcome.goal.limits_s:
        table.add_column(label(name), justify="right")
    table.add_column("wrong", justify="right")
    table.add_column("half a bar is the goal", min_width=_BAR, no_wrap=True)
    table.add_column("")
    for trial in sorted(outcome.trials, key=lambda trial: trial.rate_per_s):
        result = trial.ran.result
        style = "red" if trial.missed else "green"
        table.add_row(
            number(trial.rate_per_s),
            number(result.throughput_per_s),
            *(timed(result.latency, name) for name in outcome.goal.limits_s),
            percent(result.counts.errors / result.counts.scheduled) if result.counts.errors else "",
            Text(meter(_share(outcome, trial) / 2, _BAR), style=style),
            Text(_said(trial), style=style),
        )
    return table


def _share(outcome: CapacityResult, trial: Trial) -> float:
    latency = trial.ran.result.latency
    shares: list[float] = [getattr(latency, name) / limit for name, limit in outcome.goal.limits_s.items()]
    return max(shares)


def _said(trial: Trial) -> str:
    if trial.ran.interrupted:
        return "interrupted"
    if not trial.missed:
        return "kept"
    return "missed, disturbed" if trial.doubtful else "missed"


def _document(outcome: CapacityResult) -> dict[str, object]:
    above = outcome.above
    return {
        "schema": _VERSION,
        "urls": list(outcome.closed.target.urls),
        "goal": {label(name): limit for name, limit in outcome.goal.limits_s.items()},
        "capacity_per_s": outcome.search.capacity,
        "missed_at_per_s": outcome.search.above,
        "missed_by": _missed_by(above) if above is not None else [],
        "doubtful": above is not None and above.doubtful,
        "interrupted": outcome.interrupted,
        "closed": document(outcome.closed),
        "trials": [
            {"kept": not trial.missed, "missed_by": _missed_by(trial), "run": document(trial.ran)}
            for trial in outcome.trials
        ],
        "notes": list(outcome.notes),
    }


def _missed_by(trial: Trial) -> list[str]:
    return [missed_words(miss) for miss in trial.missed]


def goal_text(goal: Goal) -> str:
    """Return the goal as reports say it: ``p50 ≤ 10 ms and p99 ≤ 50 ms``."""
    return " and ".join(f"{label(name)} ≤ {DURATION.format(limit)}" for name, limit in goal.limits_s.items())


def missed_words(miss: Miss) -> str:
    """Say in a clause how a goal was missed."""
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
