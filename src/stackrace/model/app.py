"""The application under test: bundled, or the user's own project in its own environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from .stack import Interface

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
    """What to load: ``mysite.settings`` for Django, ``package.module:callable`` for WSGI and ASGI.

    ``config.ru`` (a path below the app's root) for Rack; for plain files ``.``, which is the root itself.
    """

    kind: EntryKind
    target: str

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
    """One application and everything needed to host it unmodified.

    ``root`` is the folder its imports start from, or the folder of the plain files; ``python`` the interpreter of
    its environment, ``ruby`` that of a Rack app, and plain files have neither. ``static`` maps URL prefixes
    (``/static/``) to folders a front end may serve; ``prepare`` are commands run once before a race. ``public`` is
    a Rack app's folder of files, its cached pages among them, that a front end may send before it asks the app;
    None for ``public`` below the root.
    """

    name: str
    root: Path
    entry: Entry
    python: Path | None = None
    ruby: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    static: Mapping[str, Path] = field(default_factory=dict)
    prepare: tuple[tuple[str, ...], ...] = ()
    services: tuple[str, ...] = ()
    public: Path | None = None

    @property
    def interfaces(self) -> frozenset[Interface]:
        """The interfaces this app offers."""
        return self.entry.interfaces
