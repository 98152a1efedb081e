"""A start of a server as one hop of a stack's path: its options become settings, or stay as they are."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ....model.current import CurrentChange, CurrentGap
from ....model.errors import InputError
from ....model.own import CONFIG, Concern, OwnLanguage
from ....model.stack import Setting, SettingValue
from ...env_file import read_env_files
from ..shell_values import expanded
from .config_file import config_named, config_reading
from .invocations import Invocation

__all__ = ["ReadHop", "quoted_value", "read_hop"]

_LOGS = "access_log"
"""A setting that is decided for every server alike, unless a path says otherwise."""
_NONE = OwnLanguage(refuses={})
_SHARED_REFUSED: Mapping[str, Concern] = {
    "port": Concern.ADDRESS, "host": Concern.ADDRESS, "user": Concern.USER, "group": Concern.USER,
    "log-to-terminal": Concern.LOGS, "access-log": Concern.LOGS, "server-root": Concern.PATHS,
    "working-directory": Concern.PATHS, "url-alias": Concern.PATHS, "startup-log": Concern.LOGS,
}  # fmt: skip
"""What mod_wsgi-express says of what is decided for it."""


@dataclass(slots=True)
class ReadHop:
    """One hop as it is put together."""

    invocation: Invocation
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
    seen: dict[str, str] = field(default_factory=dict)
    """All its options, as they are after expansion; of a switch empty."""
    changes: list[CurrentChange] = field(default_factory=list)
    gaps: list[CurrentGap] = field(default_factory=list)
    problem: str = ""
    """Why it cannot be raced."""

    @property
    def place(self) -> tuple[str, int]:
        """Where the command stands: a file, relative to the project's folder, and a line."""
        file = self.invocation.command.file
        shown = file.relative_to(self.root) if file.is_relative_to(self.root) else file
        return str(shown), self.invocation.command.line

    @property
    def is_unlike(self) -> bool:
        """Whether its options make it no deployment, but for example a server that reloads changed code."""
        return bool(self.invocation.line.unlike & self.seen.keys())

    @property
    def speaks(self) -> frozenset[str]:
        """The protocols that it listens to."""
        said = [(name.replace("_", "-"), value) for name, value in self.seen.items()]
        said += [(change.key.replace("_", "-"), change.theirs.strip("\"'")) for change in self.changes]
        others = self.invocation.line.speaks
        spoken = {others[name] or value for name, value in said if name in others}
        is_http = not spoken or self.invocation.line.says.keys() & {name for name, _ in said}
        return frozenset(spoken | ({"http"} if is_http else set()))

    def text(self, base: Path, behind: Mapping[str, str] | None = None) -> str:
        """Return it as a path spells it, files relative to ``base``; ``behind`` is said towards the hop before."""
        spec, line = self.invocation.spec, self.invocation.line
        around = {**self.file_settings, **self.settings} if self.config else {**line.unsaid, **self.settings}
        values = line.becomes(around)
        said = self.settings.keys() | {name for name in values if values[name] != around.get(name)}
        idle = line.idle(values)
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


def read_hop(invocation: Invocation, root: Path) -> ReadHop:
    """Return what ``invocation`` starts, as far as a path can say it."""
    hop = ReadHop(invocation, root)
    line, variables = invocation.line, _variables(invocation, root)
    for name, value in _by_variables(invocation, variables):
        _take(hop, name, value, variables)
    more = tuple((variables.get(line.arguments) or "").split()) if line.arguments else ()
    for name, value in _options((*more, *invocation.words), invocation):
        _take(hop, name, value, variables)
    _take_file(hop, variables)
    _take_workers(hop, variables)
    return hop


def _variables(invocation: Invocation, root: Path) -> dict[str, str]:
    """Return the variables that are known: of files named beside the command, then those that stand there."""
    known: dict[str, str] = {}
    folder = invocation.command.file.parent
    for name in invocation.command.env_files:
        for place in (folder / name, root / name, root / PurePosixPath(name).name):
            if place.is_file():
                with suppress(InputError):
                    known |= read_env_files([place])
                break
    return {**known, **invocation.variables}


def _by_variables(invocation: Invocation, variables: Mapping[str, str]) -> Iterator[tuple[str, str | None]]:
    """Yield the options that variables stand for, as far as their names are known."""
    prefix = invocation.line.prefix
    known = _settings(invocation) | dict.fromkeys(_language(invocation).refuses, "")
    for variable, value in variables.items() if prefix else ():
        name = variable.removeprefix(prefix).lower().replace("_", "-")
        if variable.startswith(prefix) and name in known:
            yield name, value


def _language(invocation: Invocation) -> OwnLanguage:
    return invocation.spec.own or _NONE


def _settings(invocation: Invocation) -> dict[str, str]:
    return {**_language(invocation).settings, **invocation.line.settings}


def _options(words: tuple[str, ...], invocation: Invocation) -> Iterator[tuple[str, str | None]]:
    """Yield names, without dashes and in their long form, with values; words that are no options are left out."""
    line, rest = invocation.line, list(words)
    switches = frozenset(line.switches.split())
    while rest:
        word = rest.pop(0)
        if not word.startswith("-") or word in ("-", "--"):
            if line.file_suffix and word.endswith(line.file_suffix):
                yield line.file_option, word
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("--") and len(name) > 1 and name[0] in line.short and name not in line.short:
            # -w4
            name, value, equals = name[0], name[1:] + (equals + value if equals else ""), "="
        name = line.short.get(name, name) if not word.startswith("--") else name
        name = name.replace("_", "-") if line.underscores else name
        if equals:
            yield name, value
        elif name in switches or not rest or rest[0].startswith("--"):
            yield name, None
        else:
            yield name, rest.pop(0)


def _take(hop: ReadHop, name: str, raw: str | None, variables: Mapping[str, str]) -> None:
    invocation = hop.invocation
    settings, language = _settings(invocation), _language(invocation)
    value = None if raw is None else expanded(raw, variables)
    what = f"--{name}" if raw is None else f"--{name} {raw}"
    hop.seen[name] = value or ""
    concern = _concern(language, name) or (_SHARED_REFUSED.get(name) if invocation.spec.own is None else None)
    if name == invocation.line.file_option:
        hop.seen[name] = value or ""
    elif settings.get(name) == _LOGS or (name not in settings and concern):
        if name in invocation.line.says:
            setting, said = invocation.line.says[name]
            hop.settings[setting] = said
        hop.changes.append(_change(hop, name, raw, concern or Concern.LOGS))
    elif raw is not None and value is None:
        hop.gaps.append(_gap(hop, what, "only running it would tell its value"))
    elif name in settings:
        _set(hop, settings[name], name, value, what)
    elif invocation.spec.own is None:
        hop.gaps.append(_gap(hop, what, "Stackrace has no setting for it"))
    elif language.problem(name, value) or not _can_be_said(name, value):
        hop.gaps.append(_gap(hop, what, "it cannot be said in a stack's path"))
    else:
        hop.options.append((name, value))


def _concern(language: OwnLanguage, name: str) -> Concern | None:
    if name in language.refuses:
        return language.refuses[name]
    if not language.abbreviates or name in language.settings:
        return None
    whole = [refused for refused in language.refuses if refused.startswith(name)]
    return language.refuses[whole[0]] if len(whole) == 1 else None


def _set(hop: ReadHop, setting_name: str, name: str, value: str | None, what: str) -> None:
    setting = hop.invocation.spec.setting(setting_name)
    known = hop.invocation.line.values.get(setting_name)
    taken = _value(setting, name, value, known)
    if taken is not None:
        hop.settings[setting_name] = taken
    elif setting.implies and known is not None:
        spec = hop.invocation.spec
        known_ones = ", ".join(setting.choices)
        hop.problem = f"{spec.title}'s {setting_name} {value!r} is none that Stackrace knows ({known_ones})"
    else:
        hop.gaps.append(_gap(hop, what, f"Stackrace does not know this value of {setting_name}"))


def _value(
    setting: Setting, name: str, value: str | None, known: Mapping[str, SettingValue] | None
) -> SettingValue | None:
    """Return what the word for a setting means; None for a word that it has not."""
    if known is not None:
        return known.get(value or "")
    if isinstance(setting.default, bool):
        if name.startswith("no-"):
            return False
        return (value or "true").lower() in ("true", "1", "on", "yes")
    if isinstance(setting.default, int):
        is_number = value is not None and value.isascii() and value.isdigit() and len(value) < 10
        number = int(value or "") if is_number else -1
        return number if setting.minimum <= number <= setting.maximum else None
    return value if not setting.choices or value in setting.choices else None


def _take_file(hop: ReadHop, variables: Mapping[str, str]) -> None:
    """Take the configuration file that the command names, or that the server finds by itself."""
    line, language = hop.invocation.line, _language(hop.invocation)
    named = hop.seen.get(line.file_option, "") if line.file_option else ""
    if not language.file or not (named or line.found):
        return
    path = config_named(named or line.found, hop.invocation, hop.root)
    if path is None:
        if named:
            hop.gaps.append(_gap(hop, f"--{line.file_option} {named}", "there is no such file in the project"))
        return
    hop.config = str(path.relative_to(hop.root))
    reading = config_reading(path, hop.root, language, variables)
    hop.file_settings = reading.known
    hop.changes += reading.changes
    hop.gaps += reading.gaps
    for name, value in reading.settings.items():
        if name not in hop.settings:
            _set(hop, name, name, value, f"{name} = {value}")


def _take_workers(hop: ReadHop, variables: Mapping[str, str]) -> None:
    option, number = hop.invocation.line.workers, variables.get("WEB_CONCURRENCY", "")
    if option and number.isdigit() and option not in hop.settings and not hop.config:
        _set(hop, _settings(hop.invocation)[option], option, number, f"WEB_CONCURRENCY={number}")


_PLAIN = re.compile(r"[A-Za-z0-9_.:@%-]+")


def quoted_value(value: str) -> str:
    """Return ``value`` as a path can hold it."""
    if _PLAIN.fullmatch(value):
        return value
    return f"'{value}'" if '"' in value else f'"{value}"'


def _can_be_said(name: str, value: str | None) -> bool:
    """Tell whether a path can hold it: it has quotes of two kinds and no escapes."""
    whole = value or ""
    return (
        bool(re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name)) and whole.isprintable() and not {'"', "'"} <= set(whole)
    )


def _shown(value: SettingValue) -> str:
    return str(value) if not isinstance(value, bool) else "on" if value else "off"


def _change(hop: ReadHop, name: str, raw: str | None, concern: Concern) -> CurrentChange:
    file, line = hop.place
    return CurrentChange(file=file, line=line, key=f"--{name}", theirs=raw or "", concern=concern)


def _gap(hop: ReadHop, what: str, why: str) -> CurrentGap:
    file, line = hop.place
    return CurrentGap(file=file, line=line, what=what, why=why)
