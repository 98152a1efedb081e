"""The points at which features meet the core: what each folder below ``features`` may declare in its ``__init__``.

A declaration names its place as ``module:attribute``; nothing is imported before it is used, so that
``stackrace --help`` pays for none.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Literal, NamedTuple, TypeVar

_Declaration = TypeVar("_Declaration")

Group = Literal["Start", "Decide", "Measure", "Keep"]


class Verb(NamedTuple):
    """A command of the command line."""

    name: str
    group: Group
    """Its heading in ``stackrace --help``."""
    line: str
    """What it does, there."""
    place: str
    """Of its click command, as ``module:attribute``."""
    rank: int
    """Its place below the heading: the lowest comes first."""


class Contestants(NamedTuple):
    """A further stack for a race: what the project runs today."""

    place: str
    """Of a function like `race.preparation.contestants.current_stack`."""


class NamedRaces(NamedTuple):
    """Races that are asked for by a name instead of a file: ``stackrace run historic/lighttpd-2008``."""

    prefix: str
    """With which their names begin."""
    place: str
    """Of a module with what `race.request.named_races.Source` says."""


class Notice(NamedTuple):
    """Sentences at fixed places of a report: what a feature says of a race and its standing."""

    place: str
    """Of a module with what `race.notices.Notices` says."""
    kind: str
    """Of the type of what it makes of a standing, a `race.results.standing.StandingNotice`."""


class BundledApp(NamedTuple):
    """An app that comes with Stackrace: ``stackrace run --bundled rails``."""

    name: str
    place: str
    """Of a function that returns an `app.bundle.Bundled` for the variables that it will run with."""


class Part(NamedTuple):
    """What a feature keeps with a race."""

    name: str
    """By which it is kept; the same as its type has."""
    place: str
    """Of its type, a `race.results.parts.RacePart`."""
    member: str = ""
    """As what the race's JSON document shows it; empty: it does not."""
    about: str = ""
    """What the document's schema says of it."""


class PlaceProvider(NamedTuple):
    """Machines elsewhere, on which stacks run and load engines work."""

    place: str
    """Of a class like `race.preparation.prepared.Places`."""


class RequestPart(NamedTuple):
    """What a feature may be asked for in a race: flags of ``stackrace run``, and keys below ``[race]``."""

    name: str
    """By which a request keeps it; the same as its type has, and no `Part`'s."""
    place: str
    """Of its type, a `race.request.request.AskedPart`."""
    flags: str
    """Of its click options."""
    heading: str
    """Where they stand in ``stackrace run --help``."""


class ResultKind(NamedTuple):
    """How the result of a race that has a certain part is reported."""

    part: str
    """By name."""
    place: str
    """Of a `report.exporter.Kind`."""


class Strategy(NamedTuple):
    """Who races next, when a race ends and how it is answered, where it has a certain part."""

    part: str
    """By name."""
    place: str
    """Of a module with what `race.decisions.Strategist` says."""


class WorkloadSource(NamedTuple):
    """What reads requests that were recorded elsewhere."""

    place: str
    """Of a function like `measure.recording.read_recording`."""


def declared(kind: type[_Declaration]) -> list[_Declaration]:
    """Return what all features that are here declare of a kind, in the alphabetical order of their names."""
    return [each for each in _declarations() if isinstance(each, kind)]


@cache
def _declarations() -> tuple[object, ...]:
    features = import_module("stackrace.features")
    modules = (import_module(f"stackrace.features.{found.name}") for found in iter_modules(features.__path__))
    return tuple(each for module in modules for each in getattr(module, "EXTENSIONS", ()))


def load(place: str) -> Any:
    """Import what a declaration names as ``module:attribute``, or as ``module``."""
    name, _, attribute = place.partition(":")
    module = import_module(name)
    return getattr(module, attribute) if attribute else module
