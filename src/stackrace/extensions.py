"""Extension points of the core: each folder below ``features`` declares in its ``__init__`` what it adds.

A declaration has an import path, ``module:attribute``, which is imported only when it is used, so that
``stackrace --help`` stays fast.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Literal, NamedTuple, TypeVar

_Declaration = TypeVar("_Declaration")

Group = Literal["Start", "Decide", "Measure", "Keep"]


class Verb(NamedTuple):
    """Command of the command line."""

    name: str
    group: Group
    """Heading of the command in ``stackrace --help``."""
    line: str
    """Sentence about the command in ``stackrace --help``."""
    import_path: str
    """Import path of the click command."""
    rank: int
    """Position below the heading: the lowest comes first."""
    needs_linux: bool = True
    """False if the command works on every system, because it starts no server."""


class Contestants(NamedTuple):
    """Further stack for a race: the one that the project runs today."""

    import_path: str
    """Import path of a function like `race.preparation.contestants.current_stack`."""


class NamedRaces(NamedTuple):
    """Races that are requested by name instead of a file: ``stackrace run historic/lighttpd-2008``."""

    prefix: str
    """Beginning of the races' names."""
    import_path: str
    """Import path of a module that implements `race.request.named_races.Source`."""


class Notice(NamedTuple):
    """Sentences of a feature about a race and its standing, at fixed places of a report."""

    import_path: str
    """Import path of a module that implements `race.judge.notices.Notices`."""
    kind: str
    """Import path of the type of the feature's notices, a `race.results.standing.StandingNotice`."""


class BundledApp(NamedTuple):
    """App that comes with Stackrace: ``stackrace run --bundled rails``."""

    name: str
    import_path: str
    """Import path of a function that returns an `app.bundle.Bundled` for the variables that the app gets."""


class Part(NamedTuple):
    """Record that a feature keeps with a race."""

    name: str
    """Name under which the record is kept; the same as ``name`` of its type."""
    import_path: str
    """Import path of the record's type, a `race.results.parts.RacePart`."""
    member: str = ""
    """Member of the race's JSON document that shows the record; empty if none does."""
    about: str = ""
    """Description of that member in the document's schema."""


class MachineProvider(NamedTuple):
    """Machines elsewhere, on which stacks run and load engines work."""

    import_path: str
    """Import path of a class like `race.preparation.prepared.MachineSource`."""


class RequestPart(NamedTuple):
    """Request that a feature adds to a race: flags of ``stackrace run``, and keys below ``[race]``."""

    name: str
    """Name under which a request keeps the part; the same as ``name`` of its type, and unlike that of every
    `Part`."""
    import_path: str
    """Import path of the part's type, a `race.request.request.AskedPart`."""
    flags: str
    """Import path of the click options for the flags."""
    heading: str
    """Heading of the flags in ``stackrace run --help``."""


class ResultKind(NamedTuple):
    """Report of a race that has a certain part."""

    part: str
    """Name of the part."""
    import_path: str
    """Import path of a `report.exporter.Kind`."""
    command: str
    """Command that starts such a race: ``stackrace tune STACK``."""


class StoredResults(NamedTuple):
    """Results of a feature that are more than one race, to be opened in a browser: the trends of apps."""

    name: str
    """First part of their addresses: ``trend``."""
    title: str
    """Heading of their list."""
    import_path: str
    """Import path of a module that implements `api.stored_results.Source`."""


class Strategy(NamedTuple):
    """Strategy of races that have a certain part: how they are resumed, forecast, scheduled and shown."""

    part: str
    """Name of the part."""
    import_path: str
    """Import path of a module that implements `race.run.strategist.Strategist`."""


class WorkloadSource(NamedTuple):
    """Reader of requests that were recorded elsewhere."""

    import_path: str
    """Import path of a function like `measure.recording.read_recording`."""


def declared(kind: type[_Declaration]) -> list[_Declaration]:
    """Return the declarations of a kind by all installed features, in the alphabetical order of their names."""
    return [each for each in _declarations() if isinstance(each, kind)]


@cache
def _declarations() -> tuple[object, ...]:
    features = import_module("stackrace.features")
    modules = (import_module(f"stackrace.features.{found.name}") for found in iter_modules(features.__path__))
    return tuple(each for module in modules for each in getattr(module, "EXTENSIONS", ()))


def load(import_path: str) -> Any:
    """Import and return the target of an import path, ``module:attribute`` or ``module``."""
    name, _, attribute = import_path.partition(":")
    module = import_module(name)
    return getattr(module, attribute) if attribute else module
