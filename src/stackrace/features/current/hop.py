"""The start of a server as one hop of a stack path: options become settings, stay unchanged, or are reported."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ...app.project_files import ProjectFiles
from ...app.projects.code_starts import base_class
from ...app.projects.deployment_command import DeploymentCommand, shown, text_of
from ...app.projects.served_app import ServedApp, served_app
from ...app.projects.shell import unknown
from ...base.errors import StackError
from ...base.files import by_last_parts, is_folder
from ...base.secrets import masked_settings
from ...stacks.native_files import Concern, Weight
from ...stacks.native_options import CONFIG, NativeOptions
from ...stacks.setting import Setting, SettingValue
from ...stacks.stack import ServerSpec
from ...stacks.stack_path import setting_text, setting_value
from .model import CurrentChange, CurrentGap, CurrentQueue

_SIZES = frozenset({"workers", "processes", "threads", "class", "mode", "interface"})
"""Settings for the number of workers and threads, and for the class of workers."""
UNKNOWN = "only running it would tell its value"
_LOGS = "access_log"
"""Setting that a race decides alike for every server, unless a stack path sets it."""
_NAMES_APP = {"module", "wsgi", "wsgi-file", "wsgi_app"}
"""Keys of gunicorn's and uWSGI's files that name the app."""
_MOST_BASES = 4
_BY_PACKAGES = "auto"
"""Value of an option that leaves the choice to the packages in the environment."""


@dataclass(slots=True)
class ReadHop:
    """One hop, filled while the files and options of a server are read."""

    command: DeploymentCommand
    """Command that starts the server."""
    spec: ServerSpec
    native: NativeOptions
    """The server's own options, which tell the meaning of the command's words."""
    project: ProjectFiles
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables of a race, from ``[app] env``."""
    settings: dict[str, SettingValue] = field(default_factory=dict)
    """Settings that the command sets."""
    options: list[tuple[str, str | None]] = field(default_factory=list)
    """Options of the command that stay unchanged: name, and value or None for a switch."""
    config: str = ""
    """Configuration file, relative to the project's folder; empty without one."""
    file_settings: Mapping[str, SettingValue] = field(default_factory=dict)
    """Settings that the configuration file sets."""
    computed: set[str] = field(default_factory=set)
    """Settings that the configuration file computes, if the server itself could not evaluate the file."""
    said: frozenset[str] = frozenset()
    """Names of the settings that the configuration file mentions."""
    seen: dict[str, str] = field(default_factory=dict)
    """All options of the command with their values, variables replaced; empty for a switch."""
    changes: list[CurrentChange] = field(default_factory=list)
    gaps: list[CurrentGap] = field(default_factory=list)
    problem: str = ""
    """Reason why the hop cannot be raced; empty if it can."""
    at: tuple[str, int] | None = None
    """File and line that are being read; None for the command's own."""

    @property
    def root(self) -> Path:
        """Folder of the project; files and places are relative to it."""
        return self.project.root

    @property
    def folder(self) -> Path:
        """Folder in the project in which the server is started; the project's folder if unknown."""
        return by_last_parts(self.command.folder, [self.root], is_folder) or self.root

    def change(self, key: str, theirs: str, concern: Concern) -> None:
        """Record that a race decides ``key`` otherwise; ``theirs`` is the deployment's value."""
        file, line = self.at or self.location
        theirs = masked_settings(theirs)
        self.changes.append(CurrentChange(file=file, line=line, key=key, theirs=theirs, concern=concern))

    def gap(
        self, what: str, why: str, weight: Weight = Weight.PLAIN, location: tuple[str, int] | None = None
    ) -> None:
        """Record that a race goes without ``what``, at ``location``, else at the place that is being read."""
        file, line = location or self.at or self.location
        self.gaps.append(CurrentGap(file=file, line=line, what=masked_settings(what), why=why, weight=weight))

    def take(self, name: str, raw: str | None) -> None:
        """Turn one option into a setting, an unchanged option, a change or a gap; ``raw`` is None for a switch."""
        native, row = self.native, self.native.row(name)
        setting = row.setting.name if row.setting is not None else ""
        value = None if raw is None or unknown(raw) else raw
        what = f"--{name}" if raw is None else f"--{name} {raw}"
        if value is not None or raw is None or not row.is_for_development:
            # an option that may be off does not make this a deployment for development
            self.seen[name] = value or ""
        if name == native.file_option or row.names_file:
            # the file's workers and threads are unknown
            if raw is not None and value is None:
                self.gap(what, UNKNOWN, Weight.SIZE)
                self.seen[name] = raw
            return
        if setting == _LOGS or (not setting and row.concern):
            if row.implies:
                self.settings.update([row.implies])
            self.change(f"--{name}", raw or "", row.concern or Concern.LOGS)
        elif raw is not None and value is None:
            self.gap(what, UNKNOWN, _weight(setting))
        elif setting:
            self.set_value(setting, name, value, what)
        elif not native.in_paths:
            self.gap(what, "Stackrace has no setting for it")
        elif native.problem(name, value) or not _can_be_said(name, value):
            self.gap(what, "it cannot be said in a stack's path")
        else:
            self.options.append((name, value))

    def set_value(self, setting_name: str, name: str, value: str | None, what: str) -> None:
        """Set a setting to the ``value`` of the option ``name``; an unknown value becomes a gap called ``what``.

        An unknown value that would decide the app's interface, such as a worker class, becomes the ``problem``.
        """
        setting = self.spec.setting(setting_name)
        if value is None and self.native.row(name).is_switch and type(setting.default) is int:
            value = "1"
        words = self.native.words_of(setting_name)
        # all other words of a number are taken unchanged
        known = words if words and (value in words or type(setting.default) is not int) else None
        taken = _value(setting, name, value, known)
        if taken is None and known is not None and (derived := self._derived(value or "", known)):
            taken = known[derived]
            self.gap(what, f"it is raced as {derived}, which it derives from: what it changes is missing")
        if taken is not None:
            self.settings[setting_name] = taken
        elif setting.implies and known is not None:
            spec = self.spec
            known_ones = ", ".join(setting.choices)
            self.problem = f"{spec.title}'s {setting_name} {value!r} is unknown to Stackrace ({known_ones})"
        else:
            self.gap(what, f"Stackrace does not know this value of {setting_name}", _weight(setting_name))

    def go_without(self, packages: Collection[str]) -> None:
        """Choose what the server does without those of its accelerators that are not among ``packages``, the names
        of those in the app's environment. If the server is not among them, its own environment is unknown."""
        for each in self.native.accelerators if self.spec.package in packages else ():
            is_left = (
                self.native.row(each.option).setting or self.seen.get(each.option, _BY_PACKAGES) == _BY_PACKAGES
            )
            if each.package not in packages and is_left and each.only.items() <= self.values().items():
                why = f"the app's environment has no {each.package}"
                self.gap(f"--{each.option} {each.value}", why, Weight.ASSUMED)
                self.options = [option for option in self.options if option[0] != each.option]
                self.take(each.option, each.value)

    def _derived(self, name: str, known: Collection[str]) -> str:
        """Return the ``known`` class that the project's own class ``name`` derives from; empty without one."""
        for _ in range(_MOST_BASES):
            name = base_class(name, [self.folder, self.root, self.root / "src"])
            if name in known:
                return name
        return ""

    @property
    def location(self) -> tuple[str, int]:
        """File and line of the command."""
        return shown_location(self.command, self.root)

    @property
    def said_settings(self) -> tuple[str, ...]:
        """Names of the settings that the command sets, even to values that only running it would tell."""
        seen = (self.native.row(name).setting for name in self.seen)
        return tuple(dict.fromkeys((*self.settings, *(setting.name for setting in seen if setting is not None))))

    @property
    def takes_workers(self) -> bool:
        """True if a variable may set the number of workers, because command and file do not."""
        native, said = self.native, self.settings.keys() | self.said
        is_heard = native.prefix or native.arguments or any(row.variable for row in native.rows)
        return bool(is_heard) and not said & {"workers", "processes"}

    @property
    def queue(self) -> CurrentQueue | None:
        """Limit of waiting connections that its command or file sets; None if neither sets it."""
        if (found := self.number_of(self.native.queue)) is None:
            return None
        value, (file, line) = found
        return CurrentQueue(server=self.spec.title, file=file, line=line, value=value)

    def number_of(self, option: str) -> tuple[int, tuple[str, int]] | None:
        """Return the number that the command or the file sets for ``option``, with its place; None without one."""
        said = self.seen.get(option, "")
        if said.isdecimal():
            return int(said), self.location
        text = text_of(self.root / self.config) if option and self.config else ""
        for line, written in enumerate(text.splitlines(), 1):
            if found := re.fullmatch(rf"\s*{re.escape(option)}\s*[=:]\s*(\d+)\s*(?:[#;].*)?", written):
                return int(found[1]), (self.config, line)
        return None

    @property
    def app(self) -> ServedApp | None:
        """The app that the command, or else the server's file, names; None if neither names one."""
        command = self.command
        named = next((change.theirs.strip("\"'") for change in self.changes if change.key in _NAMES_APP), None)
        for more in ((), (named,)) if named else ((),):
            if found := served_app((*command.words, *more), command.variables, command.folder):
                return found
        return None

    @property
    def ports(self) -> list[str]:
        """Ports that the server listens on, as far as its files say; empty if one of them is unknown."""
        changes = [change for change in self.changes if change.concern is Concern.ADDRESS]
        said = [change for change in changes if "chmod" not in change.key]
        found = [re.search(r"(?:^|:)(\d+)['\"\]]*$", change.theirs) for change in said]
        is_unknown = any("$" in change.theirs for change in said)
        return [] if is_unknown else [match[1] for match in found if match]

    @property
    def is_for_development(self) -> bool:
        """True if an option shows that this is no deployment, such as one for reloading changed code."""
        return any(self.native.row(name).is_for_development for name in self.seen)

    @property
    def speaks(self) -> frozenset[str]:
        """Protocols that the server speaks to clients or front ends."""
        said = [(name.replace("_", "-"), value) for name, value in self.seen.items()]
        said += [(change.key.replace("_", "-"), change.theirs.strip("\"'")) for change in self.changes]
        rows = [(self.native.row(name), value) for name, value in said]
        spoken = {row.protocol or value for row, value in rows if row.protocol is not None}
        is_http = not spoken or any(row.implies for row, _ in rows)
        return frozenset(spoken | ({"http"} if is_http else set()))

    @property
    def is_unix(self) -> bool:
        """True if the server listens on a unix socket, as far as its files say."""
        return any(change.concern is Concern.ADDRESS and "unix:" in change.theirs for change in self.changes)

    @property
    def _said(self) -> dict[str, SettingValue]:
        """Settings of command and file; the server's defaults take the place of a missing file."""
        return {**(self.file_settings if self.config else self.native.defaults), **self.settings}

    def values(self) -> dict[str, SettingValue]:
        """Return the values of its settings, as command and file set them."""
        return dict(self.native.becomes(self._said))

    def idle(self, values: Mapping[str, SettingValue]) -> frozenset[str]:
        """Return the settings that have no effect beside the ``values`` of others."""
        defaults = {setting.name: setting.default for setting in self.spec.settings}
        return self.spec.idle({**defaults, **values}) | self.native.idle(values)

    @property
    def effective(self) -> tuple[tuple[str, ...], int]:
        """Effective sizes (``workers=4``), and number of requests at once; ``((), 0)`` if these are unknown."""
        if self.problem or self.computed & _SIZES or any(gap.weight is Weight.SIZE for gap in self.gaps):
            return (), 0
        values = {setting.name: setting.default for setting in self.spec.settings} | self.values()
        sizes = (name for name in values if name in _SIZES - self.idle(self.values()))
        return tuple(f"{name}={setting_text(values[name])}" for name in sizes), self.native.at_once(values)

    def text(self, base: Path, behind: Mapping[str, str] | None = None) -> str:
        """Return the hop in a stack path, files relative to ``base``; ``behind``: settings for the hop before."""
        spec, native = self.spec, self.native
        values, around = self.values(), self._said
        idle = self.idle(values)
        said = self.settings.keys() | {name for name in values if values[name] != around.get(name)}
        words = [
            f"{setting.name}={setting_text(values[setting.name])}"
            for setting in spec.settings
            if setting.name in values
            and setting.name not in idle
            and (setting.name in said or not (self.config or values[setting.name] == setting.default))
        ]
        words += [f"{name}={value}" for name, value in (behind or {}).items()]
        words += [f"{CONFIG}={quoted_value(os.path.relpath(self.root / self.config, base))}"] if self.config else []
        words += [
            f"--{name}" if value is None else f"--{name}={quoted_value(value)}" for name, value in self.options
        ]
        return (native.path or spec.name) + (":" + ",".join(words) if words else "")


def shown_location(command: DeploymentCommand, root: Path) -> tuple[str, int]:
    """Return file and line of a command, the file relative to the project's folder."""
    return shown(command.file, root), command.line


_PLAIN = re.compile(r"[A-Za-z0-9_.:@%-]+")


def quoted_value(value: str) -> str:
    """Return ``value`` in the form that a stack path needs, quoted if necessary."""
    if _PLAIN.fullmatch(value):
        return value
    return f"'{value}'" if '"' in value else f'"{value}"'


def _weight(setting: str) -> Weight:
    return Weight.SIZE if setting in _SIZES else Weight.PLAIN


def _value(
    setting: Setting, name: str, value: str | None, known: Mapping[str, SettingValue] | None
) -> SettingValue | None:
    if known is not None:
        return known.get(value or "")
    if isinstance(setting.default, bool):
        value = "off" if name.startswith("no-") else value or "on"
    with suppress(StackError):
        return None if value is None else setting_value("", "", setting, value)
    return None


def _can_be_said(name: str, value: str | None) -> bool:
    """Tell whether a stack path can hold an option: paths have two kinds of quotes, no escapes, and no secrets."""
    whole = value or ""
    return (
        bool(re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name))
        and whole.isprintable()
        and not {'"', "'"} <= set(whole)
        and masked_settings(said := f"{name}={whole}") == said
    )
