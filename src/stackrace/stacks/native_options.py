"""What a user says in a server's own language: single options, and whole configuration files.

``gunicorn:--worker-tmp-dir=/dev/shm`` gives an option as the server itself has it, ``gunicorn:config=FILE`` a file.
Both are used as they are, but for what would break the measuring: where a server listens, as whom it runs, where it
logs and where things lie is decided for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

__all__ = [
    "CONFIG",
    "Change",
    "CommandLine",
    "Concern",
    "NotTaken",
    "OwnFile",
    "OwnLanguage",
    "OwnOption",
    "OwnReading",
    "ReadOptions",
    "Signs",
    "Weight",
]

CONFIG = "config"
"""The setting that names a configuration file."""


class Concern(StrEnum):
    """What a part of a configuration is about that is decided for every server."""

    ADDRESS = "address"
    """Where and in which protocol it listens, and to what it forwards."""
    USER = "user"
    LOGS = "logs"
    PATHS = "paths"
    """Where the app, its environment and the server's own files lie."""
    PROCESS = "process"
    """How it is started, watched over and restarted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnOption:
    """One option in a server's own language."""

    name: str
    """Without dashes before it."""
    value: str | None
    """None for a switch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that had to be changed in a configuration file."""

    key: str
    theirs: str
    """The value that the file gives, as it stands there."""
    concern: Concern
    line: int = 0
    """Where it stands in the file; 0 where nobody knows."""


class Weight(StrEnum):
    """What it means for a race that something could not be taken over."""

    PLAIN = "plain"
    """The race goes without it."""
    VARIABLES = "variables"
    """It may hold variables, of which one may say how many workers there are."""
    SIZE = "size"
    """It may say how many workers and threads there are, or of which class."""
    ASSUMED = "assumed"
    """It was taken for something that nobody says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotTaken:
    """One thing in a user's file that cannot be taken over."""

    file: Path | None = None
    """None for the file that is read."""
    line: int
    what: str
    """As the file has it."""
    why: str
    """The end of a sentence."""
    weight: Weight = Weight.PLAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnReading:
    """What a configuration file says, as far as it can be seen without running it."""

    settings: Mapping[str, str | int | bool] = field(default_factory=dict)
    """The values of the server's settings, its real defaults included."""
    said: frozenset[str] = frozenset()
    """The settings of which the file itself says something."""
    computed: Mapping[str, str] = field(default_factory=dict)
    """By setting what the file computes: only the server knows it once it runs."""
    changes: tuple[Change, ...] = ()
    not_taken: tuple[NotTaken, ...] = ()
    """What the race goes without."""
    forwards: str = ""
    """The protocol in which it forwards to the app; empty for a server that forwards nothing, or does not say."""
    target: str = ""
    """Where it forwards to, as the file has it."""
    files: frozenset[str] = frozenset()
    """Other files of the project that it includes, relative to its folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFile:
    """A configuration file of the user's."""

    path: Path
    text: str
    reading: OwnReading
    folder: Path = Path()
    """The project's, in which the places that it names are looked for."""
    here: Path | None = None
    """Where it lies on this machine, if ``path`` is a place on another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """What in a project's files shows that a server stands in front of the app. All are regular expressions."""

    files: str = ""
    """The names of its configuration files."""
    forwards: str = ""
    """What in such a file forwards to an app."""
    documents: str = ""
    """What a compose file or a manifest of Kubernetes says of it."""


Values = Mapping[str, str | int | bool]
"""Settings by name."""


ReadOptions = Callable[[str, str], Sequence[tuple[str, str | None]]]
"""Returns the options in a configuration file's text, of the section that is named behind the file, if one is.

A name with an underscore is no option of the command line. Raises ValueError for what it cannot read.
"""


def _nothing(settings: Values) -> frozenset[str]:
    return frozenset()


def _no_values(printed: Mapping[str, object]) -> Values:
    return {}


def _no_limit(settings: Values) -> int:
    return 0


def _as_they_are(settings: Values) -> Values:
    return settings


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """How people start a server: what turns their command into the words of a path."""

    programs: tuple[str, ...]
    """What the program is called; also as a module of Python's."""
    unsaid: Mapping[str, str | int | bool]
    """The values of settings where nobody says anything, if these are not the catalogue's."""
    verbs: Mapping[str, str] = field(default_factory=dict)
    """The first words that say what the program does, and the options that they are; empty: none."""
    short: Mapping[str, str] = field(default_factory=dict)
    """Its short options, and the long ones that they stand for, without dashes."""
    switches: str = ""
    """The long options that take no value, blanks between them."""
    path: str = ""
    """How a path calls it; empty: by the server's name."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """The options for which there is a setting, beside those of its language."""
    values: Mapping[str, Mapping[str, str | int | bool]] = field(default_factory=dict)
    """What the words for a setting mean; a setting that is not in it takes them as they are."""
    says: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """The options that are decided for it, but say something of a setting: its name and value."""
    decided: Mapping[str, Concern] = field(default_factory=dict)
    """The options that are decided for it, beside those that its language refuses."""
    speaks: Mapping[str, str] = field(default_factory=dict)
    """The options, or keys of its file, that make it speak another protocol than HTTP, and which; empty: their
    value."""
    becomes: Callable[[Values], Values] = _as_they_are
    """What it makes of settings by itself."""
    at_once: Callable[[Values], int] = _no_limit
    """How many requests it works on at once with such settings, at most; 0: only connections limit that."""
    idle: Callable[[Values], frozenset[str]] = _nothing
    """The settings that do nothing beside the others, but those of which the settings themselves say it."""
    underscores: bool = False
    """Whether its options may have underscores in place of dashes."""
    file_option: str = ""
    """The option that names its configuration file."""
    file_suffix: str = ""
    """How a word ends that is such a file without an option; empty: no word is."""
    found: str = ""
    """The configuration file that it reads where nobody names one."""
    asked: Path | None = None
    """A program for the app's interpreter: given a configuration file, it prints what the server makes of that."""
    effective: Callable[[Mapping[str, object]], Values] = _no_values
    """Returns the settings among what ``asked`` prints."""
    reads: Mapping[str, ReadOptions | None] = field(default_factory=dict)
    """The options that name a file which no path can name, and what reads it; None: nothing can."""
    prefix: str = ""
    """How the variables begin that stand for its options: ``UVICORN_``."""
    arguments: str = ""
    """The variable that holds more words of its command line."""
    workers: str = ""
    """The option whose value WEB_CONCURRENCY is where nobody gives it."""
    is_inside: bool = False
    """Whether it lives inside a front end, so that no other one of the project's stands before it."""
    unlike: frozenset[str] = frozenset()
    """The options that make it something else: a server for development, a router in front of others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLanguage:
    """Which of its own words a server takes."""

    refuses: Mapping[str, Concern]
    """The options that would break the measuring, and why."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """The options for which the server has a setting, and its name."""
    abbreviates: bool = False
    """Whether the server takes the beginning of an option for the whole."""
    ends: str = ""
    """The letters that would end a value in its configuration, so that no value may have them."""
    file: str = ""
    """What its configuration file is usually called; empty: it takes none."""
    queue: str = ""
    """The option that bounds how many connections may wait for it, in its file and on its command line."""
    read: Callable[[str], OwnReading] | None = None
    """Reads such a file's text. Raises ValueError saying what is wrong with it."""
    read_in: Callable[[str, Path, Path], OwnReading] | None = None
    """In place of ``read``, for files that name others: also takes the file's path and the project's folder."""

    @classmethod
    def options(
        cls,
        settings: Mapping[str, str],
        *,
        abbreviates: bool = False,
        ends: str = "",
        queue: str = "",
        **decided: str,
    ) -> OwnLanguage:
        """Return the language of a server that takes options only; ``decided`` lists by concern what it refuses."""
        refuses = {option: Concern(concern) for concern, words in decided.items() for option in words.split()}
        return cls(refuses=refuses, settings=settings, abbreviates=abbreviates, ends=ends, queue=queue)

    def reading(self, text: str, path: Path, folder: Path) -> OwnReading:
        """Return what the file at ``path`` says. Raises ValueError saying what is wrong with it."""
        if self.read_in is not None:
            return self.read_in(text, path, folder)
        assert self.read
        return self.read(text)

    def problem(self, name: str, value: str | None) -> str:
        """Say why the option ``name`` cannot be given, empty if it can."""
        if value is not None and any(letter in value for letter in self.ends):
            return f"its value holds one of {self.ends}; leave it out"
        if name in self.settings:
            return f"write {self.settings[name]}=… instead"
        for refused, concern in self.refuses.items():
            if name == refused or (self.abbreviates and refused.startswith(name)):
                return f"Stackrace decides about it ({concern}); leave it out"
        for known, setting in self.settings.items():
            if self.abbreviates and known.startswith(name):
                return f"write {setting}=… instead"
        return ""
