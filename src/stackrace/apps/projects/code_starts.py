"""Servers that a project's own code starts: ``uvicorn.run(app, workers=4)`` in what ``python main.py`` runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePath

from ...model.last_parts import by_last_parts
from .code import parse
from .deployment_command import DeploymentCommand

__all__ = ["started_by_code"]

_PROGRAM = "uvicorn"
_PYTHONS = ("python", "python3", "pypy3")


def started_by_code(command: DeploymentCommand, words: Sequence[str], root: Path) -> Iterator[DeploymentCommand]:
    """Yield the servers that the Python program which ``words`` run starts, as commands that say the same.

    An argument that is no literal stands as ``$(…)`` in them: only running it would tell its value.
    """
    path = _program(command, words, root)
    tree = parse(path) if path is not None else None
    if path is None or tree is None:
        return
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr="run")) if module == _PROGRAM:
                options = (word for keyword in node.keywords for word in _option(keyword))
                app = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else ""
                started = (_PROGRAM, *([app] if isinstance(app, str) and app else []), *options)
                yield replace(command, file=path, line=node.lineno, words=started)


def _program(command: DeploymentCommand, words: Sequence[str], root: Path) -> Path | None:
    """Return the file of the project that Python runs: ``python main.py``, ``python -m shop.main``."""
    place = next((place for place, word in enumerate(words) if PurePath(word).name in _PYTHONS), None)
    rest = [word for word in words[place + 1 :] if word not in ("-u", "-O", "-B")] if place is not None else []
    bases = [folder for folder in (command.file.parent, root, root / "src") if folder.is_relative_to(root)]
    match rest:
        case ["-m", module, *_]:
            name = module.replace(".", "/")
            found = by_last_parts(f"{name}.py", bases, Path.is_file)
            return found or by_last_parts(f"{name}/__main__.py", bases, Path.is_file, least=2)
        case [str(name), *_] if name.endswith(".py"):
            return by_last_parts(name, bases, Path.is_file)
    return None


def _option(keyword: ast.keyword) -> Iterator[str]:
    """Yield the words of the command line that say the same as an argument."""
    name = (keyword.arg or "").replace("_", "-")
    match keyword.value:
        case ast.Constant(value=bool(value)):
            if name in ("reload", "access-log", "proxy-headers", "server-header", "date-header", "factory"):
                yield from [f"--{name}"] if value else [f"--no-{name}"] if name not in ("reload", "factory") else []
        case ast.Constant(value=None):
            pass
        case ast.Constant(value=str(value) | int(value) | float(value)):
            yield f"--{name}={value}"
        case other if name:
            yield f"--{name}=$({ast.unparse(other)})"
