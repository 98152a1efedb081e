"""The options of a command: each becomes a setting, stays as it is, or is named as changed or missing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from ....model.own import CommandLine, Concern, OwnLanguage, Weight
from ....model.stack import Setting, SettingValue
from ..code_starts import base_class
from ..shell import unknown
from .hop import SIZES, ReadHop

__all__ = ["options_in", "set_value", "take"]

_MOST_BASES = 4
_UNKNOWN = "only running it would tell its value"
_LOGS = "access_log"
"""A setting that is decided for every server alike, unless a path says otherwise."""
_SHARED_REFUSED: Mapping[str, Concern] = {
    "port": Concern.ADDRESS, "host": Concern.ADDRESS, "user": Concern.USER, "group": Concern.USER,
    "log-to-terminal": Concern.LOGS, "access-log": Concern.LOGS, "server-root": Concern.PATHS,
    "working-directory": Concern.PATHS, "url-alias": Concern.PATHS, "startup-log": Concern.LOGS,
}  # fmt: skip
"""What mod_wsgi-express says of what is decided for it."""


def options_in(words: Iterable[str], line: CommandLine) -> Iterator[tuple[str, str | None]]:
    """Yield names, without dashes and in their long form, with values; words that are no options are left out."""
    rest = list(words)
    switches = frozenset(line.switches.split())
    while rest:
        word = rest.pop(0)
        if not word.startswith("-") or word in ("-", "--"):
            if option := _file_option(word, line):
                yield option, word
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("--") and len(name) > 1 and name[0] in line.short and name not in line.short:
            # -w4
            name, value, equals = name[0], name[1:] + (equals + value if equals else ""), "="
        name = line.short.get(name, name) if not word.startswith("--") else name
        name = name.replace("_", "-") if line.underscores and "$" not in name else name
        if equals:
            yield name, value
        elif name in switches or not rest or rest[0].startswith("--"):
            yield name, None
        else:
            yield name, rest.pop(0)


def _file_option(word: str, line: CommandLine) -> str:
    """Return the option that a configuration file without one stands for, as in ``uwsgi a.ini``; else nothing."""
    if not line.file_suffix:
        return ""
    suffix = re.sub(r":\w+$", "", word).rpartition(".")[2]
    return suffix if f".{suffix}" == line.file_suffix or suffix in line.reads else ""


def take(hop: ReadHop, name: str, raw: str | None) -> None:
    """Take one option over into ``hop``."""
    settings, language, line = hop.known_settings, hop.language, hop.line
    value = None if raw is None or unknown(raw) else raw
    what = f"--{name}" if raw is None else f"--{name} {raw}"
    if value is not None or raw is None or name not in line.unlike:
        # what may be off does not make a deployment one for development
        hop.seen[name] = value or ""
    concern = _concern(language, name) or (_SHARED_REFUSED.get(name) if hop.spec.own is None else None)
    if name == line.file_option or name in line.reads:
        # whatever its file says of workers and threads
        if raw is not None and value is None:
            hop.gap(what, _UNKNOWN, Weight.SIZE)
            hop.seen[name] = raw
        return
    if settings.get(name) == _LOGS or (name not in settings and concern):
        if name in line.says:
            setting, said = line.says[name]
            hop.settings[setting] = said
        hop.change(f"--{name}", raw or "", concern or Concern.LOGS)
    elif raw is not None and value is None:
        weight = Weight.SIZE if settings.get(name) in SIZES else Weight.PLAIN
        hop.gap(what, _UNKNOWN, weight)
    elif name in settings:
        set_value(hop, settings[name], name, value, what)
    elif hop.spec.own is None:
        hop.gap(what, "Stackrace has no setting for it")
    elif language.problem(name, value) or not _can_be_said(name, value):
        hop.gap(what, "it cannot be said in a stack's path")
    else:
        hop.options.append((name, value))


def _concern(language: OwnLanguage, name: str) -> Concern | None:
    if name in language.refuses:
        return language.refuses[name]
    if not language.abbreviates or name in language.settings:
        return None
    whole = [refused for refused in language.refuses if refused.startswith(name)]
    return language.refuses[whole[0]] if len(whole) == 1 else None


def set_value(hop: ReadHop, setting_name: str, name: str, value: str | None, what: str) -> None:
    """Set a setting of ``hop`` to what the option ``name`` says, which a gap calls ``what``."""
    setting = hop.spec.setting(setting_name)
    known = hop.line.values.get(setting_name)
    taken = _value(setting, name, value, known)
    if taken is None and known is not None and (derived := _derived(hop, value or "", known)):
        taken = known[derived]
        hop.gap(what, f"it is raced as {derived}, which it derives from: what it changes is missing")
    if taken is not None:
        hop.settings[setting_name] = taken
    elif setting.implies and known is not None:
        spec = hop.spec
        known_ones = ", ".join(setting.choices)
        hop.problem = f"{spec.title}'s {setting_name} {value!r} is unknown to Stackrace ({known_ones})"
    else:
        weight = Weight.SIZE if setting_name in SIZES else Weight.PLAIN
        hop.gap(what, f"Stackrace does not know this value of {setting_name}", weight)


def _derived(hop: ReadHop, name: str, known: Collection[str]) -> str:
    """Return the ``known`` class that the project's own class ``name`` derives from; empty for none."""
    for _ in range(_MOST_BASES):
        name = base_class(name, [hop.folder, hop.root, hop.root / "src"])
        if name in known:
            return name
    return ""


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


def _can_be_said(name: str, value: str | None) -> bool:
    """Tell whether a path can hold it: it has quotes of two kinds and no escapes."""
    whole = value or ""
    return (
        bool(re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name)) and whole.isprintable() and not {'"', "'"} <= set(whole)
    )
