"""What stands directly below the answer: what was raced, where, and what was made of the deployment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from ...base.numbers import connections
from ...measure.load import Load
from ...race.results.race import Ending, Race
from ...validity.stack import debug_on
from .. import figures
from .findings import check_title
from .phrases import listed
from .race_words import cores, machines, of

__all__ = ["debug", "raced"]

_DEBUG = "DEBUG is on: these are not the figures of production. Set DEBUG = False and race again."

_ENDINGS = {
    Ending.ANSWERED: "answered",
    Ending.BUDGET: "budget spent",
    Ending.COMPLETED: "all runs made",
    Ending.EXHAUSTED: "no stack left",
    Ending.INTERRUPTED: "interrupted",
    None: "not ended",
}

_MOST_URLS = 3


def debug(race: Race) -> str:
    """Say that the app ran in its debug mode; empty where it did not."""
    check = debug_on.declaration.id
    found = any(
        finding.check in (check, check_title(check))
        for launch in race.launches
        for slice_ in launch.slices
        for finding in slice_.verdict.findings
    )
    return _DEBUG if found else ""


def raced(race: Race) -> str:
    """Say which app and which URLs were raced, how much of it, until when, and on which machine."""
    app = f"{race.app} ({race.entry})" if race.entry else race.app
    launches = of(sum(not launch.cut_short for launch in race.launches), "launch")
    took = figures.duration(race.elapsed_s)
    runs = "" if race.repeats is None else f"{of(race.repeats, 'run')} of each, "
    size = f"{of(len(race.stacks), 'stack')} at {_levels(race.loads)}, {runs}{launches} in {took}"
    return f"Raced: {app}, {_pages(race)}: {size} ({_ENDINGS[race.ending]}). {_machine(race)}"


_MOST_LEVELS = 6


def _levels(loads: Sequence[Load]) -> str:
    """Name the load levels: ``1, 10 and 100 connections``."""
    usual = all(load.label == f"c={load.concurrency}" for load in loads)
    if usual and len(loads) == 1:
        return connections(loads[0].concurrency)
    names = [str(load.concurrency) if usual else load.label for load in loads[:_MOST_LEVELS]]
    more = [f"{len(loads) - _MOST_LEVELS} more"] if len(loads) > _MOST_LEVELS else []
    return listed([*names, *more]) + (" connections" if usual else "")


def _pages(race: Race) -> str:
    """Name the URLs; of several workloads each with its first."""
    if not race.workloads:
        return _urls(race.urls)
    names = [f"{name} ({_urls(urls[:1])})" if urls else name for name, urls in race.workloads.items()]
    return _first(names)


def _urls(urls: Sequence[str]) -> str:
    return _first([_url(url) for url in urls])


def _url(url: str) -> str:
    """Name a page as it is asked for, a recorded session by its file."""
    return PurePosixPath(unquote(urlsplit(url).path)).name if url.startswith("file:") else url


def _first(names: Sequence[str]) -> str:
    more = [f"{len(names) - _MOST_URLS} more"] if len(names) > _MOST_URLS else []
    return listed([*names[:_MOST_URLS], *more])


def _machine(race: Race) -> str:
    hosts = machines(race)
    system, *_ = race.host.system.split(" (")  # without its code name
    where = listed(hosts) if hosts else f"{race.host.cpu}, {system}"
    stacks, engine = cores(race.cores.stack_cores), cores(race.cores.generator_cores)
    return f"Stacks on {stacks}, load engine on {engine} of {where}."
