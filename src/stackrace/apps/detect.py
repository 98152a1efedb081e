"""What a folder holds: a Django project, known by its manage.py, or a Rack app, known by its config.ru.

Both files are read at most, never run.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..model.app import Entry, EntryKind
from ..model.errors import InputError
from .target import entry_of

__all__ = ["Project", "detect"]

_VARIABLE = "DJANGO_SETTINGS_MODULE"
_RACKUP = "config.ru"


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project found in a folder."""

    name: str
    root: Path
    """Where its imports start."""
    entry: Entry


def detect(folder: Path, environ: Mapping[str, str] = os.environ) -> Project | None:
    """Return the Django project in ``folder``, else the Rack app there, or None when there is neither.

    DJANGO_SETTINGS_MODULE in ``environ`` wins, as it does for manage.py, if it names a module of this folder.
    Raises InputError for a manage.py that cannot be read, or that does not say its settings in plain text.
    """
    folder = folder.absolute()
    manage = folder / "manage.py"
    if not manage.is_file():
        rackup = folder / _RACKUP
        entry = entry_of(EntryKind.RACK, _RACKUP)
        return Project(name=folder.name, root=folder, entry=entry) if rackup.is_file() else None
    modules = tuple(settings_modules(_tree(manage)))
    if not modules:
        return None
    chosen = environ.get(_VARIABLE, "")
    module = chosen if chosen and _exists(folder, chosen) else modules[0]
    if module is None:
        raise InputError(
            f'{manage} computes {_VARIABLE}; name the settings: [app] django = "mysite.settings", '
            f"or set {_VARIABLE}"
        )
    return Project(name=folder.name, root=folder, entry=entry_of(EntryKind.DJANGO, module))


def settings_modules(tree: ast.AST) -> Iterator[str | None]:
    """Yield what is assigned to DJANGO_SETTINGS_MODULE, in order; None for what only running would tell."""
    for node in ast.walk(tree):
        value = _assigned(node)
        if value is not None:
            yield value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


def _assigned(node: ast.AST) -> ast.expr | None:
    """Return the right side of ``….setdefault(VARIABLE, x)`` or ``…[VARIABLE] = x``."""
    match node:
        case ast.Call(func=ast.Attribute(attr="setdefault"), args=[ast.Constant(value=str(name)), value]):
            return value if name == _VARIABLE else None
        case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value=str(name)))], value=value):
            return value if name == _VARIABLE else None
    return None


def _tree(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_bytes(), filename=str(path))
    except (OSError, SyntaxError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def _exists(folder: Path, module: str) -> bool:
    path = folder.joinpath(*module.split("."))
    return path.with_name(f"{path.name}.py").is_file() or (path / "__init__.py").is_file()
