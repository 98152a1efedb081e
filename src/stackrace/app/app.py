"""The application under test: bundled, or the user's own project in its own environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from ..stacks.stack import Interface

__all__ = ["App", "Entry", "EntryKind"]


class EntryKind(StrEnum):
    """How the user named his application; the value is the TOML key."""

    DJANGO = "django"
    WSGI = "wsgi"
    ASGI = "asgi"
    RACK = "rack"
    FILES = "files"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What to load."""

    kind: EntryKind
    target: str
    """``mysite.settings`` for Django, ``package.module:callable`` for WSGI and ASGI, ``config.ru`` for Rack (a path
    below the app's root); for plain files ``.``, which is the root itself."""

    @property
    def interfaces(self) -> frozenset[Interface]:
        """The interfaces that such an app offers, so which servers can host it."""
        match self.kind:
            case EntryKind.DJANGO:
                return frozenset({Interface.WSGI, Interface.ASGI})
            case EntryKind.WSGI:
                return frozenset({Interface.WSGI})
            case EntryKind.ASGI:
                return frozenset({Interface.ASGI})
            case EntryKind.RACK:
                return frozenset({Interface.RACK})
            case EntryKind.FILES:
                return frozenset({Interface.FILES})


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """One application and everything needed to host it unmodified."""

    name: str
    root: Path
    """The folder its imports start from, or the folder of the plain files."""
    entry: Entry
    python: Path | None = None
    """The interpreter of its environment; None for Rack and plain files."""
    ruby: Path | None = None
    """The interpreter of a Rack app."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Environment variables."""
    static: Mapping[str, Path] = field(default_factory=dict)
    """Folders that a front end may serve, by URL prefix (``/static/``)."""
    prepare: tuple[tuple[str, ...], ...] = ()
    """Commands that run once before a race."""
    services: tuple[str, ...] = ()
    """What it needs beside it, by name (``postgresql``)."""
    public: Path | None = None
    """A Rack app's folder of files, cached pages among them, that a front end may send before it asks the app; None
    for ``public`` below the root."""

    @property
    def interfaces(self) -> frozenset[Interface]:
        """The interfaces this app offers."""
        return self.entry.interfaces
