"""Find the servers that a project's own Python programs start, without running them."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path, PurePath

from ...base.files import by_last_parts, is_file
from ..project_files import ProjectFiles
from .code import content, is_aside, parse, python_files
from .deployment_command import DeploymentCommand

_CALLS = {
    "uvicorn.run": "uvicorn",
    "uvicorn.Config": "uvicorn",
    "waitress.serve": "waitress-serve",
}
"""Functions that start a server with its command-line options, and the name of its program."""
_ELSEWHERE = (
    "aiohttp.web", "bjoern", "cheroot.wsgi", "eventlet.wsgi", "gevent.pywsgi", "tornado.httpserver",
    "twisted.web.wsgi",
)  # fmt: skip
"""Modules of servers that only Python code can start, not a command line."""
_MOST_MODULES = 200
_FRAMEWORKS = frozenset({"fastapi", "litestar"})
"""Programs whose package is imported by every app of the framework."""
_APPS = ("app", "application", "server")
"""Usual names of an application in a program that starts it."""
PYTHON = re.compile(r"(python|pypy)[\d.]*")
_SWITCHES = frozenset({"-u", "-O", "-OO", "-B", "-I", "-E", "-s", "-S"})


def started_by_code(command: DeploymentCommand, path: Path) -> Iterator[DeploymentCommand]:
    """Yield the servers that the Python program at ``path``, run by ``command``, starts, each as a command.

    An argument that is no literal becomes ``$(…)``: only running the program would tell its value.
    """
    tree = parse(path)
    if tree is None:
        return
    names = _meanings(tree)
    for node in ast.walk(tree):
        program = _CALLS.get(_dotted(node.func, names), "") if isinstance(node, ast.Call) else ""
        if program and isinstance(node, ast.Call):
            app = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else ""
            options = (word for keyword in node.keywords for word in _option(keyword))
            started = (program, *([app] if isinstance(app, str) and app else []), *options)
            yield replace(command, file=path, line=node.lineno, words=started)


def development_call(path: Path) -> tuple[int, str] | None:
    """Return line and name of the call with which a program starts its framework's server: ``app.run``; else None.

    That server is for development, in Flask as in Quart and Bottle.
    """
    tree = parse(path)
    modules = {alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, ast.Import)
               for alias in node.names} if tree else set()  # fmt: skip
    for node in ast.walk(tree) if tree else ():
        match node:
            case ast.Call(func=ast.Attribute(attr="run", value=ast.Name(id=name))) if (
                name in _APPS and name not in modules
            ):
                return node.lineno, f"{name}.run"
    return None


def _meanings(tree: ast.AST) -> dict[str, str]:
    """Return the dotted names of imported names, such as ``uvicorn.run`` for ``run``."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            before = f"{node.module}." if isinstance(node, ast.ImportFrom) and node.module else ""
            names |= {alias.asname or alias.name: f"{before}{alias.name}" for alias in node.names}
    return names


def _dotted(node: ast.expr, names: Mapping[str, str]) -> str:
    """Return the dotted name of an expression, with imported ``names`` resolved; empty for other expressions."""
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id)
    inner = _dotted(node.value, names) if isinstance(node, ast.Attribute) else ""
    return f"{inner}.{node.attr}" if inner and isinstance(node, ast.Attribute) else ""


def server_import(path: Path, root: Path, programs: Collection[str]) -> tuple[Path, int] | None:
    """Return file and line where a Python program, or another module of its package, imports a server.

    The server is one of ``programs``, or one that only code can start. None if no server is imported.
    """
    package = path.relative_to(root).parts[:-1][:1]
    inside = python_files(root.joinpath(*package)) if package else ()
    files = (file for file in inside if file != path and not is_aside(file, root))
    imported = re.compile("|".join(map(_import_of, {*programs, *_ELSEWHERE} - _FRAMEWORKS)).encode(), re.MULTILINE)
    for file in islice(chain((path,), files), _MOST_MODULES):
        text = content(file) or b""
        if found := imported.search(text):
            return file, text.count(b"\n", 0, found.start()) + 1
    return None


def _import_of(module: str) -> str:
    """Return a pattern of statements that import ``module``, or anything in it."""
    package, _, name = module.rpartition(".")
    whole = rf"^[ \t]*(?:from|import)[ \t]+{re.escape(module)}(?![\w-])"
    return rf"{whole}|^[ \t]*from[ \t]+{re.escape(package)}[ \t]+import\b.*\b{name}\b" if package else whole


def program_file(command: DeploymentCommand, project: ProjectFiles) -> Path | None:
    """Return the project's file that ``python main.py``, ``python -m shop.main`` or a console script runs."""
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
    """Return the dotted name of the first base of the project's class ``dotted``; empty if its code is not found.

    ``bases`` are the folders that modules may lie in.
    """
    module, _, name = dotted.rpartition(".")
    path = by_last_parts(f"{module.replace('.', '/')}.py", bases, is_file) if module else None
    tree = parse(path) if path is not None else None
    made = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == name] if tree else []
    return next((_dotted(base, _meanings(tree)) for node in made for base in node.bases), "") if tree else ""


def python_words(words: Sequence[str]) -> list[str]:
    """Return the words behind Python and its switches; empty if ``words`` do not run Python."""
    place = next(
        (place for place, word in enumerate(words, 1) if PYTHON.fullmatch(PurePath(word).name)), len(words)
    )
    return [word for word in words[place:] if word not in _SWITCHES]


def _option(keyword: ast.keyword) -> Iterator[str]:
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
