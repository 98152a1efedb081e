"""How a search for capacity is shown: the answer, what lies above it, and every rate that was tried."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ....base.numbers import number, percent
from ....base.text import one_line
from ....cli.showing import print_document, print_parts
from ....measure.engine.load_run import label
from ....report.characters import meter
from ....report.figures import timed
from ....report.load_document import document
from ....report.words import load_run
from ....report.words.findings import LOAD, remedy, seen
from .. import words
from ..search import CapacityResult, Trial

__all__ = ["show"]

_VERSION = "capacity-1"
_BAR = 24


def show(outcome: CapacityResult, *, as_json: bool) -> None:
    """Print the search on stdout: for people, or as one JSON document."""
    if as_json:
        print_document(_document(outcome))
        return
    print_parts(_parts(outcome))


def _parts(outcome: CapacityResult) -> Iterator[RenderableType]:
    yield Text(_headline(outcome), style="bold")
    yield Text(one_line(_closed(outcome)))
    if (above := outcome.above) is not None:
        yield Text(one_line(f"At {_rate(above)} {words.missed(above.missed[0])}."))
    yield from (Text(one_line(line), style="yellow") for line in _doubts(outcome))
    if outcome.trials:
        yield Text()
        yield _table(outcome)
    yield Text()
    yield Text(words.CAVEAT, style="dim")


def _headline(outcome: CapacityResult) -> str:
    search, above = outcome.search, outcome.above
    if outcome.interrupted:
        return words.unknown(outcome.goal)
    if search.capacity is None:
        return words.none(outcome.goal, search.low)
    return words.capacity(outcome.goal, search.capacity, at_least=above is None or above.doubtful)


def _closed(outcome: CapacityResult) -> str:
    reached = words.closed_loop(outcome.goal, outcome.closed)
    if outcome.interrupted:
        return reached
    if outcome.above is None:
        return f"{reached} {words.NOTHING_ABOVE}"
    return f"{reached} {words.NOTHING_BELOW}" if outcome.best is None else reached


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
    return [words.missed(miss) for miss in trial.missed]
