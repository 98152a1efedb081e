"""A server's own configuration file, as a command in another place names it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ....model.current import CurrentChange, CurrentGap
from ....model.last_parts import by_last_parts
from ....model.own import OwnLanguage
from ....model.stack import SettingValue
from ..deployment_command import text_of
from ..places import deployment_folders
from .invocations import Invocation

__all__ = ["ConfigReading", "config_named", "config_reading", "line_of", "unknown_variables"]


@dataclass(frozen=True, slots=True)
class ConfigReading:
    """What a configuration file adds to a hop."""

    changes: tuple[CurrentChange, ...] = ()
    gaps: tuple[CurrentGap, ...] = ()
    computed: Mapping[str, str] = field(default_factory=dict)
    """By setting what it computes: its server knows what that is."""
    decided: frozenset[str] = frozenset()
    """What of it is decided otherwise."""
    known: Mapping[str, SettingValue] = field(default_factory=dict)
    """What it says of settings, the server's defaults included."""
    said: frozenset[str] = frozenset()
    """The settings of which it says something."""


def config_named(name: str, invocation: Invocation, root: Path) -> Path | None:
    """Return the project's file that a command calls ``name``; a place in an image is known by its last parts."""
    name = name.removeprefix("file:").partition("\n")[0]
    if name.startswith("python:"):
        name = name.removeprefix("python:").replace(".", "/") + ".py"
    if invocation.spec.name == "uwsgi":
        name = re.sub(r":\w+$", "", name)
    folders = [_inside(invocation.folder, root), root, invocation.command.file.parent]
    if "/" not in name.removeprefix("./"):
        folders = folders[:2] if invocation.folder else [root, invocation.command.file.parent]
    known = [folder for folder in folders if folder is not None and folder.is_relative_to(root)]
    if place := by_last_parts(name, known, Path.is_file):
        return place
    last = PurePosixPath(name).name
    if not last or name == invocation.line.found:
        return None
    elsewhere = [place / last for place, _, names in deployment_folders(root) if last in names]
    return elsewhere[0] if len(elsewhere) == 1 else None


def _inside(folder: str, root: Path) -> Path | None:
    """Return the folder of the project that an image or a machine calls ``folder``: by its last parts."""
    return by_last_parts(folder, [root], Path.is_dir)


def config_reading(path: Path, root: Path, language: OwnLanguage) -> ConfigReading:
    """Return what is decided otherwise in the file at ``path``, and what of it nobody knows without its server."""
    text, file = text_of(path), str(path.relative_to(root))
    try:
        reading = language.reading(text, path, root)
    except (OSError, ValueError):
        # whoever parses the path says it
        return ConfigReading()
    lines = text.splitlines()
    changes = tuple(
        CurrentChange(
            file=file, line=change.line or line_of(lines, change.key), key=change.key, theirs=change.theirs,
            concern=change.concern,
        )
        for change in reading.changes
    )  # fmt: skip
    return ConfigReading(
        changes=changes,
        gaps=tuple(
            CurrentGap(file=file, line=gap.line, what=gap.what, why=gap.why, weight=gap.weight)
            for gap in reading.not_taken
        ),
        computed=reading.computed,
        decided=frozenset(change.key for change in reading.changes),
        known=reading.settings,
        said=reading.said,
    )


def line_of(lines: list[str], key: str) -> int:
    """Return the line that sets ``key``, with dashes or underscores; 0 where none does."""
    spelled = re.compile(rf"\s*{'[-_]'.join(map(re.escape, re.split('[-_]', key)))}\b\s*[:=]?")
    return next((number for number, line in enumerate(lines, 1) if spelled.match(line)), 0)


def unknown_variables(file: str, lines: list[str], variables: Mapping[str, str]) -> Iterator[CurrentGap]:
    """Yield where a file reads a variable that the deployment sets: nobody sets it in a race."""
    for number, line in enumerate(lines, 1):
        for named in _names(line):
            if named in variables and not line.lstrip().startswith(("#", ";")):
                why = f'the deployment sets this variable, and a race does not: add [app] env = {{ {named} = "…" }}'
                yield CurrentGap(file=file, line=number, what=named, why=why)


def _names(text: str) -> set[str]:
    """Return the variables that a line reads: ``os.environ.get("WORKERS", 2)``, uWSGI's ``$(WORKERS)``."""
    found = re.findall(r"""(?:environ(?:\.get)?|getenv|env|config)[(\[\s]+["'](\w+)["']|\$\((\w+)\)""", text)
    return {first or second for first, second in found}
