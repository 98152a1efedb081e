"""A start of a server as one hop of a stack's path: its options become settings, or stay as they are."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ....model.current import CurrentChange, CurrentGap, CurrentQueue
from ....model.last_parts import by_last_parts
from ....model.own import CONFIG, CommandLine, Concern, OwnLanguage, Weight
from ....model.secrets import masked_settings
from ....model.stack import ServerSpec, SettingValue
from ..deployment_command import DeploymentCommand, shown, text_of
from ..starts import Start

__all__ = ["SIZES", "ReadHop", "quoted_value", "shown_place"]

_NONE = OwnLanguage(refuses={})
SIZES = frozenset({"workers", "processes", "threads", "class", "mode", "interface"})
"""The settings that say how many workers and threads there are, and of which class."""


@dataclass(slots=True)
class ReadHop:
    """One hop as it is put together."""

    start: Start
    spec: ServerSpec
    line: CommandLine
    """How its words are read."""
    root: Path
    """The project's folder, which files and places are relative to."""
    settings: dict[str, SettingValue] = field(default_factory=dict)
    """What the command says of settings."""
    options: list[tuple[str, str | None]] = field(default_factory=list)
    """What it says in the server's own language."""
    config: str = ""
    """Its configuration file, relative to the project's folder."""
    file_settings: Mapping[str, SettingValue] = field(default_factory=dict)
    """What that says of settings."""
    computed: set[str] = field(default_factory=set)
    """The settings that this computes, as far as the server could not be asked."""
    said: frozenset[str] = frozenset()
    """The settings of which its configuration file says something."""
    seen: dict[str, str] = field(default_factory=dict)
    """All its options, as they are after expansion; of a switch empty."""
    changes: list[CurrentChange] = field(default_factory=list)
    gaps: list[CurrentGap] = field(default_factory=list)
    problem: str = ""
    """Why it cannot be raced."""
    at: tuple[str, int] | None = None
    """Where what is read just now stands, if not in the command."""

    @property
    def variables(self) -> Mapping[str, str]:
        """Those that its process has."""
        return self.start.variables

    @property
    def command(self) -> DeploymentCommand:
        """The command that starts it."""
        return self.start.command

    @property
    def language(self) -> OwnLanguage:
        """Its own words."""
        return self.spec.own or _NONE

    @property
    def known_settings(self) -> dict[str, str]:
        """The options for which there is a setting."""
        return {**self.language.settings, **self.line.settings}

    @property
    def folder(self) -> Path:
        """The project's folder in which it is started, as far as that is known."""
        return by_last_parts(self.start.folder, [self.root], Path.is_dir) or self.root

    def change(self, key: str, theirs: str, concern: Concern) -> None:
        """Note what is decided otherwise."""
        file, line = self.at or self.place
        theirs = masked_settings(theirs)
        self.changes.append(CurrentChange(file=file, line=line, key=key, theirs=theirs, concern=concern))

    def gap(self, what: str, why: str, weight: Weight = Weight.PLAIN) -> None:
        """Note what a race goes without."""
        file, line = self.at or self.place
        self.gaps.append(CurrentGap(file=file, line=line, what=masked_settings(what), why=why, weight=weight))

    @property
    def place(self) -> tuple[str, int]:
        """Where the command stands."""
        return shown_place(self.command, self.root)

    @property
    def takes_workers(self) -> bool:
        """Whether a variable may say how many workers it has, because nothing else does."""
        line = self.line
        said = self.settings.keys() | self.said
        return bool(line.workers or line.prefix or line.arguments) and not said & {"workers", "processes"}

    @property
    def queue(self) -> CurrentQueue | None:
        """How many connections may wait for it, by its command or its file; None where neither says it."""
        title, option = self.spec.title, self.language.queue
        said = dict(self.options).get(option) or ""
        if option and said.isdecimal():
            file, line = self.place
            return CurrentQueue(server=title, file=file, line=line, value=int(said))
        text = text_of(self.root / self.config) if option and self.config else ""
        for number, written in enumerate(text.splitlines(), 1):
            if found := re.fullmatch(rf"\s*{re.escape(option)}\s*[=:]\s*(\d+)\s*(?:[#;].*)?", written):
                return CurrentQueue(server=title, file=self.config, line=number, value=int(found[1]))
        return None

    @property
    def is_unlike(self) -> bool:
        """Whether its options make it no deployment, but for example a server that reloads changed code."""
        return bool(self.line.unlike & self.seen.keys())

    @property
    def speaks(self) -> frozenset[str]:
        """The protocols that it listens to."""
        said = [(name.replace("_", "-"), value) for name, value in self.seen.items()]
        said += [(change.key.replace("_", "-"), change.theirs.strip("\"'")) for change in self.changes]
        others = self.line.speaks
        spoken = {others[name] or value for name, value in said if name in others}
        is_http = not spoken or self.line.says.keys() & {name for name, _ in said}
        return frozenset(spoken | ({"http"} if is_http else set()))

    def _values(self) -> dict[str, SettingValue]:
        """Return its settings as far as they are known, the server's own defaults included."""
        line = self.line
        return dict(line.becomes({**(self.file_settings if self.config else line.unsaid), **self.settings}))

    def _idle(self) -> frozenset[str]:
        spec, values = self.spec, self._values()
        defaults = {setting.name: setting.default for setting in spec.settings}
        return spec.idle({**defaults, **values}) | self.line.idle(values)

    @property
    def effective(self) -> tuple[tuple[str, ...], int]:
        """Its size as it takes effect, and how many requests it works on at once; nothing where that is open."""
        if self.problem or self.computed & SIZES or any(gap.weight is Weight.SIZE for gap in self.gaps):
            return (), 0
        values = {setting.name: setting.default for setting in self.spec.settings} | self._values()
        shown = tuple(
            f"{name}={_shown(values[name])}" for name in values if name in SIZES and name not in self._idle()
        )
        return shown, self.line.at_once(values)

    def text(self, base: Path, behind: Mapping[str, str] | None = None) -> str:
        """Return it as a path spells it, files relative to ``base``; ``behind`` is said towards the hop before."""
        spec, line = self.spec, self.line
        values, idle = self._values(), self._idle()
        around = {**self.file_settings, **self.settings} if self.config else {**line.unsaid, **self.settings}
        said = self.settings.keys() | {name for name in values if values[name] != around.get(name)}
        words = [
            f"{setting.name}={_shown(values[setting.name])}"
            for setting in spec.settings
            if setting.name in values
            and setting.name not in idle
            and (setting.name in said if self.config else values[setting.name] != setting.default)
        ]
        words += [f"{name}={value}" for name, value in (behind or {}).items()]
        words += [f"{CONFIG}={quoted_value(os.path.relpath(self.root / self.config, base))}"] if self.config else []
        words += [
            f"--{name}" if value is None else f"--{name}={quoted_value(value)}" for name, value in self.options
        ]
        return (line.path or spec.name) + (":" + ",".join(words) if words else "")


def shown_place(command: DeploymentCommand, root: Path) -> tuple[str, int]:
    """Return where a command stands: a file, relative to the project's folder, and a line."""
    return shown(command.file, root), command.line


_PLAIN = re.compile(r"[A-Za-z0-9_.:@%-]+")


def quoted_value(value: str) -> str:
    """Return ``value`` as a path can hold it."""
    if _PLAIN.fullmatch(value):
        return value
    return f"'{value}'" if '"' in value else f'"{value}"'


def _shown(value: SettingValue) -> str:
    return str(value) if not isinstance(value, bool) else "on" if value else "off"
