"""What a race file of an app could say, as far as the app itself knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .examiner.messages import SurveyReport

__all__ = ["Database", "Survey", "survey_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """A database of Django's settings."""

    engine: str
    """Its last part: ``postgresql``, ``sqlite3``."""
    place: str
    """Host and port, empty where there are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Pages, folders and services."""

    pages: tuple[str, ...] = ()
    """Paths of routes without parameters, in the order of the URL configuration."""
    asked: tuple[str, ...] = ()
    """Pages to ask for, the most telling first; the examination's exchanges answer the first of them."""
    unasked: Mapping[str, str] = field(default_factory=dict)
    """Pages that are not asked for, and why."""
    static: Mapping[str, Path] = field(default_factory=dict)
    """Folders of static files that exist, by URL prefix."""
    static_root: str = ""
    """Django's STATIC_ROOT, also where no such folder exists."""
    databases: tuple[Database, ...] = ()
    caches: tuple[str, ...] = ()
    """The backends of Django's caches."""


def survey_of(report: SurveyReport) -> Survey:
    """Return the examiner's report as a value."""
    return Survey(
        pages=tuple(report["pages"]),
        asked=tuple(report["asked"]),
        unasked=report["unasked"],
        static={prefix: Path(folder) for prefix, folder in report["static"].items()},
        static_root=report["static_root"],
        databases=tuple(
            Database(engine=engine.rpartition(".")[2], place=place) for engine, place in report["databases"]
        ),
        caches=tuple(report["caches"]),
    )
