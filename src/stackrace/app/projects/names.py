"""What a word means that names an app by its file or its module: ``app.py``, ``notes.py:create_app()``, ``app``."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path

from ...base.errors import InputError
from ..app import Entry, EntryKind, entry_of, module_of, parse_target, wrong_spelling
from .candidates import Candidate, ProjectCode

__all__ = ["entry_named", "flags_named"]

_MOST_SHOWN = 3
_CALLABLES = (EntryKind.WSGI, EntryKind.ASGI)


def entry_named(kind: EntryKind, target: str, folder: Path) -> Entry:
    """Return the entry, as ``entry_of`` does; the error for a wrong spelling names the apps in its file."""
    try:
        return entry_of(kind, target)
    except InputError as error:
        file, _, name = target.strip().partition(":")
        if kind not in _CALLABLES or not (file.endswith(".py") or not name):
            raise
        found = _named(target.strip(), folder)
        if not found:
            raise
        raise InputError(wrong_spelling(kind, target, *(each.flags(folder) for each in found))) from error


def flags_named(word: str, folder: Path) -> tuple[str, ...]:
    """Return the flags that race what ``word`` names, the likeliest first; empty for what names no app.

    A callable in no file of ``folder`` may be of either interface; a file without an app in it is none.
    """
    if found := _named(word, folder):
        return tuple(shlex.join(each.flags(folder)) for each in found)
    try:
        target = shlex.quote(str(parse_target(EntryKind.WSGI, _dotted(word))))
    except InputError:
        return ()
    return tuple(f"--{kind} {target}" for kind in _CALLABLES)


def _dotted(word: str) -> str:
    file, colon, name = word.partition(":")
    return f"{module_of(file)}{colon}{name}"


def _named(word: str, folder: Path) -> list[Candidate]:
    """Return the apps in the file that ``word`` names, the surest first; those alone that it names there."""
    place, _, name = word.partition(":")
    files = [Path(os.path.normpath(folder / each)) for each in _places(place)]
    file = next((each for each in files if each.is_file()), None)
    if file is None:
        return []
    found = ProjectCode(folder if file.is_relative_to(folder) else file.parent).in_file(file)
    if not name:
        return list(found[:_MOST_SHOWN])
    called = name.partition("(")[0].strip()
    return [_called(each, name) for each in found if each.name == called]


def _called(candidate: Candidate, name: str) -> Candidate:
    """Return ``candidate`` with the arguments that ``name`` gives it, if these can be read."""
    module = candidate.entry.target.partition(":")[0]
    try:
        return (
            replace(candidate, entry=entry_of(candidate.entry.kind, f"{module}:{name}"))
            if "(" in name
            else candidate
        )
    except InputError:
        return candidate


def _places(place: str) -> list[str]:
    if place.endswith(".py"):
        return [place]
    path = place.replace(".", "/")
    return [f"{path}.py", f"{path}/__init__.py"] if module_of(place) else []
