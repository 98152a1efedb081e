"""A server's own options and configuration files, as a user gives them.

``gunicorn:--worker-tmp-dir=/dev/shm`` gives an option as the server itself has it, ``gunicorn:config=FILE`` a file.
Both are used unchanged, except for what would break the measurement: Stackrace decides where a server listens,
which user it runs as, where it logs and where its files lie.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .native_files import Concern, FileReading
from .setting import Setting, Settings, SettingValue

if TYPE_CHECKING:
    from .servers.site import Site

CONFIG = "config"
"""The setting that names a configuration file."""


_ReadOptions = Callable[[str, str], Sequence[tuple[str, str | None]]]
"""Function that returns the options in a configuration file's text, from the section with the given name; empty:
the usual section.

A name with an underscore is no option of the command line. Raises ValueError for unreadable text.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One row of a server's option table: the option's names, and how Stackrace treats it."""

    names: str = field(kw_only=False)
    """Command-line names without dashes, long ones first, separated by blanks: ``workers w``. Stackrace writes the
    first; empty if the option has no command-line name.
    """
    setting: Setting | None = None
    """The Stackrace setting for this option; None if there is none."""
    concern: Concern | None = None
    """Subject that Stackrace decides, so that the user's value is refused or replaced; None if the user decides."""
    key: str | None = None
    """Key in the server's configuration file; None: the first name, with underscores; empty: no key."""
    default: SettingValue | None = None
    """The server's own default; None: the default of the setting."""
    values: Settings = field(default_factory=dict)
    """Setting values by the option's words; empty: the setting takes the words unchanged, as it takes all numbers
    that are missing here."""
    variable: str = ""
    """Environment variable that supplies the value if the option is not given."""
    is_switch: bool = False
    """True if the option takes no value."""
    is_queue: bool = False
    """True if the option limits how many connections may wait for the server."""
    is_for_development: bool = False
    """True if the option turns a deployment into something else: a reloader for development, or a router."""
    implies: tuple[str, SettingValue] | None = None
    """Name and value of a setting that this option implies, even though Stackrace decides the option itself."""
    protocol: str | None = None
    """Protocol that the server speaks with this option, in place of HTTP; empty: the option's value names it."""
    reads: _ReadOptions | None = None
    """Reader of the options file that this option names, if a stack path cannot name that file."""
    unreadable: bool = False
    """True if the option names a file that Stackrace cannot read."""
    written: SettingValue | Callable[[Site], object] | None = field(default=None, compare=False)
    """Value that Stackrace writes, or a function that returns it for a site; see ``servers.settings``."""

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the option without ``written``, which cannot be pickled; code that needs it has the catalogue."""
        return _option, ({each.name: getattr(self, each.name) for each in fields(self) if each.name != "written"},)

    @property
    def long(self) -> tuple[str, ...]:
        """Names of more than one letter."""
        return tuple(name for name in self.names.split() if len(name) > 1)

    @property
    def names_file(self) -> bool:
        """True if the option names an options file that a stack path cannot name."""
        return self.reads is not None or self.unreadable

    @property
    def file_key(self) -> str:
        """Key in the server's configuration file; empty if it has none."""
        return self.names.partition(" ")[0].replace("-", "_") if self.key is None else self.key


def _option(values: Mapping[str, Any]) -> Option:
    return Option(**values)


def switches(names: str, concern: Concern | None = None) -> tuple[Option, ...]:
    """Return a row for each switch in the comma-separated ``names``."""
    return tuple(Option(each.strip(), concern=concern, is_switch=True) for each in names.split(","))


def decided(concern: Concern, names: str) -> tuple[Option, ...]:
    """Return a row for each option in the comma-separated ``names``; Stackrace decides all of them."""
    return tuple(Option(each.strip(), concern=concern) for each in names.split(","))


def passed(names: str) -> tuple[Option, ...]:
    """Return a row for each option in the comma-separated ``names``; all are passed on unchanged."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """Package that a server uses only where it is installed, and the option with which it goes without."""

    package: str
    option: str
    value: str
    only: Settings = field(default_factory=dict)
    """Settings with which the server uses the package; empty: it always does."""


@dataclass(frozen=True, kw_only=True)
class NativeOptions:
    """A server's own options: the table of all that Stackrace knows, and how to read commands and files with it.

    Options without a row are passed on unchanged, unless ``decided`` has them. Those in ``no-`` are switches.
    """

    rows: tuple[Option, ...]
    decided: Mapping[Concern, str] = field(default_factory=dict)
    """Patterns of further options that Stackrace decides, by concern; they need no row."""
    in_paths: bool = True
    """True if a stack path may give these options."""
    programs: tuple[str, ...] = ()
    """Names of the server's program or Python module; empty: not looked for in a project's start commands."""
    verbs: Mapping[str, str] = field(default_factory=dict)
    """Options that the program's first word stands for, by that word; empty: there are none."""
    path: str = ""
    """Server as a stack path spells it; empty: the server's name."""
    abbreviates: bool = False
    """True if the server accepts abbreviated options."""
    underscores: bool = False
    """True if underscores may replace the dashes in options."""
    ends: str = ""
    """Letters that no value may contain, because they end a value in the server's configuration."""
    prefix: str = ""
    """Prefix of the environment variables that set options: ``UVICORN_``."""
    arguments: str = ""
    """Environment variable with additional command-line words."""
    order: str = ""
    """Setting names in display order; empty: the order of the rows."""
    is_inside: bool = False
    """True if the server runs inside a front end, so that no other front end of the project stands before it."""
    file: str = ""
    """Usual name of the configuration file; empty: a stack path can name none."""
    file_option: str = ""
    """Command-line option that names this file."""
    file_suffix: str = ""
    """Suffix of a command-line word that is a configuration file without an option; empty: none."""
    default_file: str = ""
    """Configuration file that the server reads if none is given."""
    read: Callable[[str, Path, Path], FileReading] = _nothing_read
    """Reader of such a file, from its text, its path and the project's folder; raises ValueError if invalid."""
    ignored: Callable[[str], Iterable[tuple[str, str]]] = _nothing_ignored
    """Function that returns the settings in such a file's text that the server does not know and ignores.

    Each comes with the setting that was probably meant, or with nothing.
    """
    inspector: Path | None = None
    """Program for the app's interpreter that prints the server's view of a configuration file."""
    effective: Callable[[Mapping[str, object]], Settings] = _no_values
    """Function that extracts the settings from what ``inspector`` prints."""
    becomes: Callable[[Settings], Settings] = _as_they_are
    """Function that returns the settings after the server's own adjustments."""
    at_once: Callable[[Settings], int] = _no_limit
    """Function that returns the maximum of requests in progress; 0: only connections limit them."""
    idle: Callable[[Settings], frozenset[str]] = _nothing
    """Function that returns settings without effect beside the others, except those of ``Setting.only``."""
    accelerators: tuple[Accelerator, ...] = ()
    """Packages that a stack of Stackrace has, and that a project's own environment may lack."""

    @cached_property
    def by_name(self) -> Mapping[str, Option]:
        """Rows by each of their names."""
        return {name: row for row in self.rows for name in row.names.split()}

    def row(self, name: str) -> Option:
        """Return the row of the option ``name``; if there is none, one that passes it on unless it is decided."""
        concern = next((concern for concern, names in self.decided.items() if re.fullmatch(names, name)), None)
        return self.by_name.get(name) or Option(name, concern=concern, is_switch=name.startswith("no-"))

    @property
    def spec_settings(self) -> tuple[Setting, ...]:
        """Settings of the rows, for the server's spec."""
        settings = {row.setting.name: row.setting for row in self.rows if row.setting is not None}
        return tuple(settings[name] for name in (self.order.split() or settings))

    @cached_property
    def defaults(self) -> Settings:
        """Default values of the settings, by name."""
        return {
            row.setting.name: row.setting.default if row.default is None else row.default
            for row in self.rows
            if row.setting is not None
        }

    @property
    def keys(self) -> Mapping[str, str]:
        """Setting names by their key in the configuration file, without those that Stackrace decides."""
        rows = [row for row in self.rows if row.file_key and not row.concern]
        return {row.file_key: row.setting.name for row in rows if row.setting is not None}

    @property
    def decided_keys(self) -> Mapping[str, Concern]:
        """Keys in the configuration file that Stackrace decides, with their concern, sorted by concern."""
        kinds = list(Concern)
        decided = [(row, row.concern) for row in self.rows if row.concern and row.file_key]
        decided.sort(key=lambda each: (kinds.index(each[1]), each[0].setting is None))
        return {row.file_key: concern for row, concern in decided}

    @property
    def queue(self) -> str:
        """Name of the option that limits how many connections may wait; empty if there is none."""
        return next((row.long[0] for row in self.rows if row.is_queue), "")

    def words_of(self, setting: str) -> Settings:
        """Return the values of ``setting`` by the option's words; empty: it takes the words unchanged."""
        return next(
            (row.values for row in self.rows if row.setting is not None and row.setting.name == setting), {}
        )

    def reading(self, said: Iterable[tuple[str, SettingValue | None, str]]) -> FileReading:
        """Return a file's settings from triples of name, value and text; the last one for a name wins.

        The value is None if only the running server knows it.
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
        """Return True if the environment variable ``variable`` configures this server."""
        is_option = bool(self.prefix) and variable.startswith(self.prefix)
        return is_option or variable in {self.arguments, *(row.variable for row in self.rows)} - {""}

    def problem(self, name: str, value: str | None) -> str:
        """Return the reason why the option ``name`` cannot be given; empty if it can."""
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
