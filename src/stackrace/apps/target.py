"""How an app may be named: ``mysite.settings``, ``package.module:callable``, ``package:create_app()``, a path."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from keyword import iskeyword

from ..model.app import Entry, EntryKind
from ..model.errors import InputError

__all__ = ["Target", "entry_of", "parse_target"]


_NAMED = {
    EntryKind.DJANGO: "a settings module",
    EntryKind.RACK: "a rackup file",
    EntryKind.FILES: "a folder",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A callable, as ``module:name``."""

    module: str
    name: str
    arguments: str | None = None
    """What stands between a factory's parentheses, None without a call."""

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


def parse_target(kind: EntryKind, target: str) -> Target:
    """Take ``module:callable`` or ``module:factory(…)`` apart; arguments must be literals."""
    module, colon, expression = target.partition(":")
    if not colon or not _dotted(module):
        raise _wrong(kind, target, _suggestion(target))
    try:
        node = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise _wrong(kind, target, f"{module}:app") from error
    if not isinstance(node, ast.Call):
        return Target(module=module, name=_name(kind, target, node))
    arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
    if not all(_is_literal(argument) for argument in arguments):
        raise _wrong(kind, target, f"{module}:{ast.unparse(node.func)}()")
    inside = ", ".join([*map(ast.unparse, node.args), *map(ast.unparse, node.keywords)])
    return Target(module=module, name=_name(kind, target, node.func), arguments=inside)


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
    if not _dotted(target):
        raise _wrong(EntryKind.DJANGO, target, _module(target) or "mysite.settings")
    return target


def _path(kind: EntryKind, target: str) -> str:
    if not target or "\0" in target:
        raise _wrong(kind, target, "config.ru" if kind is EntryKind.RACK else "public/")
    return target


def _dotted(text: str) -> bool:
    return all(part.isidentifier() and not iskeyword(part) for part in text.split("."))


def _suggestion(target: str) -> str:
    module = _module(target.partition(":")[0])
    return f"{module or 'package.module'}:app"


def _module(text: str) -> str:
    """Turn ``./mysite/settings.py`` into ``mysite.settings``; nothing when that makes no module either."""
    module = text.strip().removeprefix("./").removesuffix(".py").replace("/", ".")
    return module if _dotted(module) else ""


def _wrong(kind: EntryKind, target: str, right: str) -> InputError:
    what = _NAMED.get(kind, "a callable")
    return InputError(f'[app] {kind} = "{target}" does not name {what}; write it like {kind} = "{right}"')
