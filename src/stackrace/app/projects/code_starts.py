"""Servers that a project's own code starts: ``uvicorn.run(app, workers=4)`` in what ``python main.py`` runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path, PurePath

from ...base.files import by_last_parts, is_file
from .code import dotted_name, parse
from .deployment_command import DeploymentCommand
from .places import ProjectFiles

__all__ = [
    "PYTHON",
    "base_class",
    "imported_files",
    "program_file",
    "python_words",
    "server_import",
    "started_by_code",
]

_CALLS = {
    "uvicorn.run": "uvicorn",
    "uvicorn.Config": "uvicorn",
    "waitress.serve": "waitress-serve",
}
"""The functions that start a server with the options of its command line, and what that is called."""
_ELSEWHERE = ("aiohttp.web", "eventlet.wsgi", "gevent.pywsgi", "tornado.httpserver", "twisted.web.wsgi")
"""Servers that only code starts, and that no command line has."""
_MOST_MODULES = 200
PYTHON = re.compile(r"(python|pypy)[\d.]*")
_SWITCHES = frozenset({"-u", "-O", "-OO", "-B", "-I", "-E", "-s", "-S"})


def started_by_code(command: DeploymentCommand, path: Path) -> Iterator[DeploymentCommand]:
    """Yield the servers that the Python program at ``path``, which ``command`` runs, starts: as such commands.

    An argument that is no literal stands as ``$(…)`` in them: only running it would tell its value.
    """
    tree = parse(path)
    if tree is None:
        return
    names = _meanings(tree)
    for node in ast.walk(tree):
        program = _CALLS.get(dotted_name(node.func, names), "") if isinstance(node, ast.Call) else ""
        if program and isinstance(node, ast.Call):
            app = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else ""
            options = (word for keyword in node.keywords for word in _option(keyword))
            started = (program, *([app] if isinstance(app, str) and app else []), *options)
            yield replace(command, file=path, line=node.lineno, words=started)


def _imports(tree: ast.AST | None) -> Iterator[tuple[ast.Import | ast.ImportFrom, str, str]]:
    """Yield imports, the names that they bind and what these mean, as ``run`` and ``uvicorn.run``."""
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Import | ast.ImportFrom):
            before = f"{node.module}." if isinstance(node, ast.ImportFrom) and node.module else ""
            yield from ((node, alias.asname or alias.name, f"{before}{alias.name}") for alias in node.names)


def _meanings(tree: ast.AST) -> dict[str, str]:
    return {name: dotted for _, name, dotted in _imports(tree)}


def server_import(path: Path, root: Path, programs: Collection[str]) -> tuple[Path, int] | None:
    """Return where the Python program at ``path``, or a module of the project that it needs, imports a server.

    One of ``programs``, or one that only code starts. None where nothing does.
    """
    modules = [path]
    for module in modules:
        for node, _, dotted in _imports(parse(module)):
            if dotted.partition(".")[0] in programs or dotted.startswith(_ELSEWHERE):
                return module, node.lineno
        if len(modules) < _MOST_MODULES:
            modules += [each for each in imported_files(module, root) if each not in modules]
    return None


def imported_files(path: Path, root: Path) -> list[Path]:
    """Return the modules of the project at ``root`` that the one at ``path`` imports."""
    found: list[Path] = []
    for node, _, dotted in _imports(parse(path)):
        level = node.level if isinstance(node, ast.ImportFrom) else 0
        near = path.parents[level - 1 : level] if level else (root, root / "src", path.parent)
        inside = [base for base in near if base.is_relative_to(root)]
        # a module, or what one has
        for name in (dotted.replace(".", "/"), dotted.rpartition(".")[0].replace(".", "/")):
            places = (base / f"{name}{end}" for base in inside for end in (".py", "/__init__.py"))
            found += islice(filter(is_file, places if name else ()), 1)
    return found


def program_file(command: DeploymentCommand, project: ProjectFiles) -> Path | None:
    """Return the project's file that ``command`` runs: ``python main.py``, ``python -m shop.main``, its program."""
    words, root = command.words, project.root
    bases = [folder for folder in (command.file.parent, root, root / "src") if folder.is_relative_to(root)]
    match python_words(words):
        case ["-m", module, *_]:
            name = module.replace(".", "/")
            found = by_last_parts(f"{name}.py", bases, is_file)
            return found or by_last_parts(f"{name}/__main__.py", bases, is_file, least=2)
        case [str(name), *_] if name.endswith(".py"):
            return by_last_parts(name, bases, is_file)
    module = project.console_scripts.get(PurePath(words[0]).name, "")
    return by_last_parts(f"{module.replace('.', '/')}.py", bases, is_file) if module else None


def base_class(dotted: str, bases: Sequence[Path]) -> str:
    """Return the class that the project's class ``dotted`` first derives from; empty where its code is not found.

    ``bases`` are the folders that modules may lie in.
    """
    module, _, name = dotted.rpartition(".")
    path = by_last_parts(f"{module.replace('.', '/')}.py", bases, is_file) if module else None
    tree = parse(path) if path is not None else None
    made = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == name] if tree else []
    return next((dotted_name(base, _meanings(tree)) for node in made for base in node.bases), "") if tree else ""


def python_words(words: Sequence[str]) -> list[str]:
    """Return what stands behind Python and its switches in ``words``; nothing where it does not stand there."""
    place = next(
        (place for place, word in enumerate(words, 1) if PYTHON.fullmatch(PurePath(word).name)), len(words)
    )
    return [word for word in words[place:] if word not in _SWITCHES]


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
        case other:
            # **options may say anything
            yield f"--{name}=$({ast.unparse(other)})" if name else f"--$(**{ast.unparse(other)})"
