"""What a user says in a server's own language: single options, and whole configuration files.

``gunicorn:--worker-tmp-dir=/dev/shm`` gives an option as the server itself has it, ``gunicorn:config=FILE`` a file.
Both are used as they are, but for what would break the measuring: where a server listens, as whom it runs, where it
logs and where things lie is decided for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .servers.site import Site
    from .stack import Setting, Settings, SettingValue

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
    VARIABLES = "variables"
    """What the app finds in its environment, which is the same for every stack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenOption:
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
class FileReading:
    """What a configuration file says, as far as it can be seen without running it."""

    settings: Settings = field(default_factory=dict)
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
class NativeFile:
    """A configuration file of the user's."""

    path: Path
    text: str
    reading: FileReading
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


_ReadOptions = Callable[[str, str], Sequence[tuple[str, str | None]]]
"""Returns the options in a configuration file's text, of the section that is named behind the file, if one is.

A name with an underscore is no option of the command line. Raises ValueError for what it cannot read.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One row of a server's table of options: what it is called in each place, and what Stackrace does with it."""

    names: str = field(kw_only=False)
    """Its names on the command line without dashes, long ones first, blanks between them: ``workers w``. The first
    is the one that Stackrace writes; empty: the command line has none for it."""
    setting: Setting | None = None
    """The setting of ours that it is; None where there is none."""
    concern: Concern | None = None
    """What it is about that is decided for every server, so that a user's own value is refused or replaced."""
    key: str | None = None
    """What the server's configuration file calls it; None: as its first name, with underscores; empty: nothing."""
    default: SettingValue | None = None
    """What the server does where nobody says anything; None: what the setting's default is."""
    values: Settings = field(default_factory=dict)
    """What its words mean for the setting; empty: the setting takes them as they are."""
    variable: str = ""
    """The environment variable whose value it has where nobody gives it."""
    is_switch: bool = False
    """Whether it takes no value."""
    is_queue: bool = False
    """Whether it bounds how many connections may wait for the server."""
    is_for_development: bool = False
    """Whether it makes the server something else than a deployment: one that reloads changed code, a router."""
    implies: tuple[str, SettingValue] | None = None
    """The setting of which it says something, though it is decided itself, and the value that it says."""
    protocol: str | None = None
    """The protocol that it makes the server speak in place of HTTP; empty: its value."""
    reads: _ReadOptions | None = None
    """What reads the file that it names, where no path can name that."""
    unreadable: bool = False
    """Whether it names a file that nothing reads."""
    written: SettingValue | Callable[[Site], object] | None = field(default=None, compare=False)
    """What Stackrace writes: a value, or a function that returns it for a site; see ``servers.settings``."""

    def __reduce__(self) -> tuple[object, ...]:
        """Leave out what is written, which no pickle can hold: whoever writes it has the catalogue."""
        return _option, ({each.name: getattr(self, each.name) for each in fields(self) if each.name != "written"},)

    @property
    def long(self) -> tuple[str, ...]:
        """Its long names."""
        return tuple(name for name in self.names.split() if len(name) > 1)

    @property
    def names_file(self) -> bool:
        """Whether it names a file of options that no path can name."""
        return self.reads is not None or self.unreadable

    @property
    def file_key(self) -> str:
        """What the server's configuration file calls it; empty for nothing."""
        return self.names.partition(" ")[0].replace("-", "_") if self.key is None else self.key


def _option(values: Mapping[str, Any]) -> Option:
    return Option(**values)


def switches(names: str, concern: Concern | None = None) -> tuple[Option, ...]:
    """Return a row for each of the switches in ``names``, with commas between them."""
    return tuple(Option(each.strip(), concern=concern, is_switch=True) for each in names.split(","))


def decided(concern: Concern, names: str) -> tuple[Option, ...]:
    """Return a row for each of the options in ``names``, with commas between them; all are decided here."""
    return tuple(Option(each.strip(), concern=concern) for each in names.split(","))


def passed(names: str) -> tuple[Option, ...]:
    """Return a row for each of the options in ``names``, with commas between them, that is passed on as it is."""
    return tuple(Option(each.strip()) for each in names.split(","))


def _nothing(settings: Settings) -> frozenset[str]:
    return frozenset()


def _no_values(printed: Mapping[str, object]) -> Settings:
    return {}


def _no_limit(settings: Settings) -> int:
    return 0


def _nothing_read(text: str, path: Path, folder: Path) -> FileReading:
    return FileReading()


def _nothing_ignored(text: str) -> Iterable[tuple[str, str]]:
    return ()


def _as_they_are(settings: Settings) -> Settings:
    return settings


@dataclass(frozen=True, kw_only=True)
class NativeOptions:
    """A server's own options: the table of all that Stackrace knows, and how commands and files are read by it.

    Options that no row has are passed on as they are given.
    """

    rows: tuple[Option, ...]
    in_paths: bool = True
    """Whether a stack's path may give them."""
    programs: tuple[str, ...] = ()
    """What its program is called, also as a module of Python's; empty: projects do not say how it starts."""
    verbs: Mapping[str, str] = field(default_factory=dict)
    """The first words that say what the program does, and the options that they are; empty: none."""
    path: str = ""
    """How a path calls it; empty: by the server's name."""
    abbreviates: bool = False
    """Whether the server takes the beginning of an option for the whole."""
    underscores: bool = False
    """Whether its options may have underscores in place of dashes."""
    ends: str = ""
    """The letters that would end a value in its configuration, so that no value may have them."""
    prefix: str = ""
    """How the variables begin that stand for its options: ``UVICORN_``."""
    arguments: str = ""
    """The variable that holds more words of its command line."""
    order: str = ""
    """The names of its settings in the order in which they are shown, if that is not the one of the rows."""
    is_inside: bool = False
    """Whether it lives inside a front end, so that no other one of the project's stands before it."""
    file: str = ""
    """What its configuration file is usually called; empty: a path can name none."""
    file_option: str = ""
    """The option that names this file."""
    file_suffix: str = ""
    """How a word ends that is such a file without an option; empty: no word is."""
    default_file: str = ""
    """The configuration file that it reads where nobody names one."""
    read: Callable[[str, Path, Path], FileReading] = _nothing_read
    """Reads such a file: its text, its path, the project's folder. Raises ValueError for what is wrong with it."""
    ignored: Callable[[str], Iterable[tuple[str, str]]] = _nothing_ignored
    """Returns the settings in the text of such a file that the server does not know and ignores.

    Each comes with the setting that was probably meant, or with nothing.
    """
    inspector: Path | None = None
    """A program for the app's interpreter: given a configuration file, it prints what the server makes of that."""
    effective: Callable[[Mapping[str, object]], Settings] = _no_values
    """Returns the settings among what ``inspector`` prints."""
    becomes: Callable[[Settings], Settings] = _as_they_are
    """What it makes of settings by itself."""
    at_once: Callable[[Settings], int] = _no_limit
    """How many requests it works on at once with such settings, at most; 0: only connections limit that."""
    idle: Callable[[Settings], frozenset[str]] = _nothing
    """The settings that do nothing beside the others, but those of which the settings themselves say it."""

    @cached_property
    def by_name(self) -> Mapping[str, Option]:
        """The rows by each of their names."""
        return {name: row for row in self.rows for name in row.names.split()}

    def row(self, name: str) -> Option:
        """Return the row of the option ``name``; for one that no row has, one that is passed on as it is given."""
        return self.by_name.get(name) or Option(name)

    @property
    def spec_settings(self) -> tuple[Setting, ...]:
        """The settings of the rows, for the server's spec."""
        settings = {row.setting.name: row.setting for row in self.rows if row.setting is not None}
        return tuple(settings[name] for name in (self.order.split() or settings))

    @cached_property
    def defaults(self) -> Settings:
        """The values of settings where nobody says anything."""
        return {
            row.setting.name: row.setting.default if row.default is None else row.default
            for row in self.rows
            if row.setting is not None
        }

    @property
    def keys(self) -> Mapping[str, str]:
        """What its configuration file calls the settings, but for those that are decided for the server."""
        rows = [row for row in self.rows if row.file_key and not row.concern]
        return {row.file_key: row.setting.name for row in rows if row.setting is not None}

    @property
    def decided_keys(self) -> Mapping[str, Concern]:
        """What its configuration file may set and is decided for it, by concern."""
        kinds = list(Concern)
        decided = [(row, row.concern) for row in self.rows if row.concern and row.file_key]
        decided.sort(key=lambda each: (kinds.index(each[1]), each[0].setting is None))
        return {row.file_key: concern for row, concern in decided}

    @property
    def queue(self) -> str:
        """The option that bounds how many connections may wait for it, in its file and on its command line."""
        return next((row.long[0] for row in self.rows if row.is_queue), "")

    def words_of(self, setting: str) -> Settings:
        """Return what its words mean for ``setting``; empty: that takes them as they are."""
        return next(
            (row.values for row in self.rows if row.setting is not None and row.setting.name == setting), {}
        )

    def reading(self, said: Iterable[tuple[str, SettingValue | None, str]]) -> FileReading:
        """Return what a file says of settings, the last word counting: of each its name, its value and its words.

        The value is None where only the server knows it, once it runs.
        """
        settings, computed, names = dict(self.defaults), dict[str, str](), set[str]()
        for name, value, words in said:
            names.add(name)
            if value is None:
                settings.pop(name, None)
                computed[name] = words
            else:
                computed.pop(name, None)
                settings[name] = value
        return FileReading(settings=settings, said=frozenset(names), computed=computed)

    def reads(self, variable: str) -> bool:
        """Tell whether the server takes anything of its own from an environment variable."""
        is_option = bool(self.prefix) and variable.startswith(self.prefix)
        return is_option or variable in {self.arguments, *(row.variable for row in self.rows)} - {""}

    def problem(self, name: str, value: str | None) -> str:
        """Say why the option ``name`` cannot be given, empty if it can."""
        if value is not None and any(letter in value for letter in self.ends):
            return f"its value holds one of {self.ends}; leave it out"
        begun = [row for row in self.rows if any(each.startswith(name) for each in row.long)]
        known = [
            self.row(name),
            *(sorted(begun, key=lambda row: row.setting is not None) if self.abbreviates else ()),
        ]
        for row in known:
            if row.setting is not None:
                return f"write {row.setting.name}=… instead"
            if row.concern is Concern.VARIABLES:
                return "every stack has the same variables; set them by [app] env or --env-file"
            if row.concern is not None:
                return f"Stackrace decides about it ({row.concern}); leave it out"
        return ""
