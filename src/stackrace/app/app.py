"""The application under test, and its possible names: ``mysite.settings``, ``module:callable``, a path."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from keyword import iskeyword
from pathlib import Path
from shlex import join

from ..base.errors import InputError
from ..stacks.setting import Interface


class EntryKind(StrEnum):
    """Kind of name under which the user gave the application; the value is the TOML key."""

    DJANGO = "django"
    WSGI = "wsgi"
    ASGI = "asgi"
    RACK = "rack"
    FILES = "files"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The name under which an application is loaded."""

    kind: EntryKind
    target: str
    """``mysite.settings`` for Django, ``package.module:callable`` for WSGI and ASGI, ``config.ru`` for Rack (a path
    below the app's root); for plain files ``.``, which is the root itself."""

    @property
    def interfaces(self) -> frozenset[Interface]:
        """Interfaces that the app offers; they decide which servers can host it."""
        if self.kind is EntryKind.DJANGO:
            return frozenset({Interface.WSGI, Interface.ASGI})
        return frozenset({Interface(self.kind.value)})


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """One application and everything needed to host it unmodified."""

    name: str
    root: Path
    """The folder its imports start from, or the folder of the plain files."""
    entry: Entry
    python: Path | None = None
    """The interpreter of its environment; None for Rack and plain files."""
    ruby: Path | None = None
    """The interpreter of a Rack app."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Environment variables."""
    static: Mapping[str, Path] = field(default_factory=dict)
    """Folders that a front end may serve, by URL prefix (``/static/``)."""
    prepare: tuple[tuple[str, ...], ...] = ()
    """Commands that run once before a race."""
    services: tuple[str, ...] = ()
    """Names of the services that the app needs (``postgresql``)."""
    public: Path | None = None
    """A Rack app's folder of files, cached pages among them, that a front end may send before it asks the app; None
    for ``public`` below the root."""

    @property
    def interfaces(self) -> frozenset[Interface]:
        """The interfaces this app offers."""
        return self.entry.interfaces


_NAMED = {
    EntryKind.DJANGO: "a settings module",
    EntryKind.RACK: "a rackup file",
    EntryKind.FILES: "a folder",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    module: str
    name: str
    arguments: str | None = None
    """Text between a factory's parentheses; None without a call."""

    def __str__(self) -> str:
        call = "" if self.arguments is None else f"({self.arguments})"
        return f"{self.module}:{self.name}{call}"


def entry_of(kind: EntryKind, target: str) -> Entry:
    """Return the entry for ``[app] <kind> = "<target>"``; raises InputError for a wrong spelling.

    >>> entry_of(EntryKind.WSGI, "notes:create_app('test')").target
    "notes:create_app('test')"
    """
    target = target.strip()
    if kind in (EntryKind.RACK, EntryKind.FILES):
        return Entry(kind=kind, target=_path(kind, target))
    if kind is EntryKind.DJANGO:
        return Entry(kind=kind, target=_settings(target))
    return Entry(kind=kind, target=str(parse_target(kind, target)))


def parse_target(kind: EntryKind, target: str) -> _Target:
    """Split ``module:callable`` or ``module:factory(…)``; raise InputError unless all arguments are literals."""
    module, colon, expression = target.partition(":")
    if not colon or not _dotted(module) or module.endswith(".py"):
        raise _wrong(kind, target, _suggestion(target))
    try:
        node = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise _wrong(kind, target, f"{module}:app") from error
    if not isinstance(node, ast.Call):
        return _Target(module=module, name=_name(kind, target, node))
    arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
    if not all(_is_literal(argument) for argument in arguments):
        raise _wrong(kind, target, f"{module}:{ast.unparse(node.func)}()")
    inside = ", ".join([*map(ast.unparse, node.args), *map(ast.unparse, node.keywords)])
    return _Target(module=module, name=_name(kind, target, node.func), arguments=inside)


def _name(kind: EntryKind, target: str, node: ast.expr) -> str:
    name = ast.unparse(node)
    if not _dotted(name):
        raise _wrong(kind, target, _suggestion(target))
    return name


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _settings(target: str) -> str:
    if not _dotted(target) or target.endswith(".py"):
        raise _wrong(EntryKind.DJANGO, target, module_of(target) or "mysite.settings")
    return target


def _path(kind: EntryKind, target: str) -> str:
    if not target or "\0" in target:
        raise _wrong(kind, target, "config.ru" if kind is EntryKind.RACK else "public/")
    return target


def _dotted(text: str) -> bool:
    return all(part.isidentifier() and not iskeyword(part) for part in text.split("."))


def _suggestion(target: str) -> str:
    path, _, name = target.partition(":")
    module = module_of(path) or "package.module"
    if path.endswith(".py") and "(" in name:
        return str(parse_target(EntryKind.WSGI, f"{module}:{name}"))
    return f"{module}:{name if _dotted(name) else 'app'}"


def module_of(text: str) -> str:
    """Turn ``./mysite/settings.py`` into ``mysite.settings``; empty if the result is no module name."""
    module = text.strip().removeprefix("./").removesuffix(".py").replace("/", ".")
    return module if _dotted(module) else ""


def _wrong(kind: EntryKind, target: str, right: str) -> InputError:
    return InputError(wrong_spelling(kind, target, [f"--{kind}", right]))


def wrong_spelling(kind: EntryKind, target: str, *rights: Sequence[str]) -> str:
    """Say that ``target`` is not valid for ``kind``; ``rights`` are the flags to write instead, likeliest first."""
    what = _NAMED.get(kind, "a callable")
    *_, flag, right = rights[0]
    root = f'root = "{rights[0][1]}" and ' if rights[0][0] == "--project" else ""
    way_out = f'write it like {" or ".join(map(join, rights))}, or in a race file {root}{flag[2:]} = "{right}"'
    return f'--{kind} ([app] {kind}): "{target}" does not name {what}; {way_out}'
