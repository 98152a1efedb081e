"""Where an app's interpreter imports editable installs from."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from .app import App
from .environment import app_environment
from .script_report import script_report

__all__ = ["ImportPlaces", "import_places"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPlaces:
    """What an interpreter looks through."""

    folders: tuple[Path, ...] = ()
    """sys.path."""
    modules: Mapping[str, Path] = field(default_factory=dict)
    """Files or folders of modules that are found without it, by name."""


def import_places(app: App) -> ImportPlaces:
    """Return them; nothing for an app without Python, or with one that does not start."""
    if app.python is None:
        return ImportPlaces()
    report = {}
    with suppress(OSError):
        report = script_report(app, "import_places.py", app_environment(app))
    return ImportPlaces(
        folders=tuple(map(Path, report.get("path", ()))),
        modules={name: Path(place) for name, place in report.get("modules", {}).items()},
    )
