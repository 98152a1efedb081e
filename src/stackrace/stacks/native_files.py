"""A user's configuration files for servers, as they are read, and what Stackrace must change in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from .setting import Settings


class Concern(StrEnum):
    """Subject of an option that Stackrace decides for every server."""

    ADDRESS = "address"
    """The address and protocol that the server listens on, and the upstream it forwards to."""
    USER = "user"
    LOGS = "logs"
    PATHS = "paths"
    """Paths of the app, its environment and the server's own files."""
    PROCESS = "process"
    """Start, supervision and restart of the server."""
    VARIABLES = "variables"
    """The app's environment variables, which are the same for every stack."""
    FOLDER = "folder"
    """The app's working folder and Python path, which are the same for every stack."""
    UMASK = "umask"
    """The mask of the files that the app makes, which is the same for every stack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenOption:
    """One option in a server's own language."""

    name: str
    """Option name without leading dashes."""
    value: str | None
    """None for a switch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that had to be changed in a configuration file."""

    key: str
    theirs: str
    """The value in the user's file, as written there."""
    concern: Concern
    line: int = 0
    """Line in the file; 0 if unknown."""


class Weight(StrEnum):
    """Importance of an omission for a race."""

    PLAIN = "plain"
    """The race ignores the omitted thing; nothing else changes."""
    VARIABLES = "variables"
    """Variables may be lost, and a variable may set the number of workers."""
    SIZE = "size"
    """The number of workers or threads, or the worker class, may be lost."""
    ASSUMED = "assumed"
    """Something is assumed that no file says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Omission:
    """One thing in a user's file that cannot be taken over."""

    file: Path | None = None
    """File that contains it; None for the file being read."""
    line: int
    what: str
    """The text as it stands in the file."""
    why: str
    """The reason, as the end of a sentence."""
    weight: Weight = Weight.PLAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReading:
    """Contents of a configuration file, as far as they can be read without running it."""

    settings: Settings = field(default_factory=dict)
    """The values of the server's settings, its real defaults included."""
    said: frozenset[str] = frozenset()
    """Names of the settings that the file itself gives."""
    computed: Mapping[str, str] = field(default_factory=dict)
    """Expressions in the file by setting name; only the running server knows their values."""
    changes: tuple[Change, ...] = ()
    omissions: tuple[Omission, ...] = ()
    """Parts of the file that the race ignores."""
    forwards: str = ""
    """Protocol towards the app; empty if the server forwards nothing or the file does not say."""
    target: str = ""
    """Upstream address, as written in the file."""
    files: frozenset[str] = frozenset()
    """Other project files that the file includes, relative to the project's folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeFile:
    """A configuration file from the user."""

    path: Path
    text: str
    reading: FileReading
    folder: Path = Path()
    """The project's folder, searched for the paths that the file names."""
    here: Path | None = None
    """Path of the file on this machine, if ``path`` is on another machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """Regular expressions that recognise a front end in a project's files."""

    files: str = ""
    """Names of its configuration files."""
    forwards: str = ""
    """Text in such a file that forwards to an app."""
    documents: str = ""
    """Text in a compose file or Kubernetes manifest that mentions it."""
