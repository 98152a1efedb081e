"""Django's settings module, as manage.py says it: read, and computed where that needs no running."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from .code import content, parse, python_files

__all__ = ["VARIABLE", "settings_candidates", "settings_modules"]

VARIABLE = "DJANGO_SETTINGS_MODULE"

_SIGNS = (b"INSTALLED_APPS", b"ROOT_URLCONF")


def settings_modules(tree: ast.AST, environ: Mapping[str, str] = os.environ) -> Iterator[str | None]:
    """Yield what is assigned to DJANGO_SETTINGS_MODULE, in order; None for what only running would tell."""
    names = _constants(tree)
    for node in ast.walk(tree):
        value = _assigned(node)
        if value is not None:
            yield _text(value, names, environ)


def settings_candidates(folder: Path) -> tuple[str, ...]:
    """Return the modules in ``folder`` that look like Django's settings: files of settings, by their content."""
    modules = []
    for path in python_files(folder):
        parts = path.relative_to(folder).with_suffix("").parts
        is_named = any("settings" in part or "config" in part for part in parts)
        if is_named and all(map(str.isidentifier, parts)) and _is_settings(path):
            modules.append(".".join(part for part in parts if part != "__init__"))
    return tuple(modules)


def _is_settings(path: Path) -> bool:
    """A variant of settings has none of the signs itself: it imports all names of the common ones."""
    if any(sign in (content(path) or b"") for sign in _SIGNS):
        return True
    tree = parse(path)
    stars = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)] if tree else []
    return any(node.names[0].name == "*" and node.level for node in stars)


def _assigned(node: ast.AST) -> ast.expr | None:
    """Return the right side of ``….setdefault(VARIABLE, x)`` or ``…[VARIABLE] = x``."""
    match node:
        case ast.Call(func=ast.Attribute(attr="setdefault"), args=[ast.Constant(value=str(name)), value]):
            return value if name == VARIABLE else None
        case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value=str(name)))], value=value):
            return value if name == VARIABLE else None
    return None


def _constants(tree: ast.AST) -> dict[str, ast.expr]:
    """Return the names that are bound once in the whole file, with what they are bound to."""
    bound: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    bound.setdefault(target.id, []).append(node.value)
    return {name: values[0] for name, values in bound.items() if len(values) == 1}


def _text(node: ast.expr, names: Mapping[str, ast.expr], environ: Mapping[str, str], depth: int = 0) -> str | None:
    """Compute a text out of literals, variables of the environment and their defaults; None for anything else."""
    if depth > 10:
        return None

    def inner(part: ast.expr) -> str | None:
        return _text(part, names, environ, depth + 1)

    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Name(id=name) if name in names:
            return inner(names[name])
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _joined([inner(left), inner(right)])
        case ast.JoinedStr(values=parts):
            return _joined([inner(part.value if isinstance(part, ast.FormattedValue) else part) for part in parts])
        case ast.BoolOp(op=ast.Or(), values=values):
            return next(filter(None, map(inner, values)), None)
        case ast.Subscript(value=value, slice=ast.Constant(value=str(variable))) if _is_environ(value):
            return environ.get(variable)
        case ast.Call(func=ast.Attribute(value=value, attr="get"), args=[ast.Constant(value=str(name)), *rest]) if (
            _is_environ(value)
        ):
            return environ.get(name) or (inner(rest[0]) if rest else None)
        case ast.Call(args=[ast.Constant(value=str(name)), *rest], keywords=keywords):
            # os.getenv, decouple's config(), environ's env(): the variable, else the default
            default = next((each.value for each in keywords if each.arg == "default"), rest[0] if rest else None)
            return environ.get(name) or (inner(default) if default is not None else None)
    return None


def _joined(parts: list[str | None]) -> str | None:
    return None if None in parts else "".join(part for part in parts if part is not None)


def _is_environ(node: ast.expr) -> bool:
    return ast.unparse(node) in ("environ", "os.environ")
