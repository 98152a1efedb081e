"""The Python files of a project: how each is imported, and what its statements bind, call and return."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from pathlib import Path

from ...base.files import is_file, is_folder, read_bytes
from ..project_files import MARK

_MOST_FILES = 4000
"""Files looked at: enough for a large project, and soon done in a home folder."""
_MOST_DEPTH = 6
"""Levels of folders below the project's."""
_MOST_BYTES = 2**20
"""Of a file: no longer one is written by hand."""

_NOT_CODE = frozenset({"__pycache__", "__pypackages__", "build", "dist", "node_modules", "site-packages", "target"})

_ASIDE_FOLDER = re.compile(
    r"alembic|bench|benchmarks?|contrib|demos?|docs?|e2e(-tests)?|examples?|fixtures|migrations|playground|samples?|sandbox"
    r"|scripts|stuff|test(s|ing)?|tools|tutorials?"
)
_ASIDE_FILE = re.compile(r"(test_.*|.*_tests?|tests?|conftest|setup|noxfile|tasks|manage|gunicorn[._]conf.*)\.py$")

_ENVIRONMENT_SIGNS = ("pyvenv.cfg", "conda-meta")


def python_files(folder: Path) -> Iterator[Path]:
    """Yield the Python files in ``folder``, the upper first; not those of environments and hidden folders."""
    yield from islice(_walk(folder, _MOST_DEPTH), _MOST_FILES)


def _walk(folder: Path, depth: int) -> Iterator[Path]:
    level = [folder]
    for _ in range(depth):
        inner: list[Path] = []
        for place in level:
            files, folders = _listed(place)
            yield from files
            inner += folders
        level = inner


def _listed(folder: Path) -> tuple[list[Path], list[Path]]:
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError:
        return [], []
    names = {entry.name for entry in entries}
    files = [Path(entry.path) for entry in entries if entry.name.endswith(".py") and entry.is_file()]
    folders = [
        Path(entry.path)
        for entry in entries
        if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".") and entry.name not in _NOT_CODE
    ]
    return ([], []) if names & {*_ENVIRONMENT_SIGNS, MARK} else (files, folders)


def is_aside(path: Path, folder: Path) -> bool:
    """Tell whether a file of the project ``folder`` is a test, an example or a tool rather than the app itself."""
    *folders, name = path.relative_to(folder).parts
    return any(map(_ASIDE_FOLDER.fullmatch, folders)) or _ASIDE_FILE.match(name) is not None


def has_notebooks(folder: Path) -> bool:
    """Tell whether a folder, or one right below it, holds Jupyter notebooks."""
    return any(any(folder.glob(pattern)) for pattern in ("*.ipynb", "*/*.ipynb"))


def content(path: Path, most_bytes: int = _MOST_BYTES) -> bytes | None:
    """Return what a file holds, None for one that is longer than any of its kind, or cannot be read."""
    try:
        return read_bytes(path, most_bytes)
    except OSError:
        return None


def parse(path: Path) -> ast.Module | None:
    """Return the syntax tree of a file, None for one that this Python cannot read; nothing is run."""
    parsed = _parsed(path)
    return parsed if isinstance(parsed, ast.Module) else None


def syntax_error(path: Path) -> SyntaxError | None:
    """Return what this Python does not understand in a file, None for one that it can read."""
    parsed = _parsed(path)
    return parsed if isinstance(parsed, SyntaxError) else None


def _parsed(path: Path) -> ast.Module | Exception | None:
    source = content(path)
    try:
        return None if source is None else ast.parse(source, filename=str(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return error


def import_name(path: Path, tree: ast.Module, folder: Path) -> tuple[Path, str]:
    """Return how a module of the project ``folder`` is imported: where imports start, and its name.

    A package without ``__init__.py`` is known by files that import from it by its name, or relatively.
    """
    is_init = path.stem == "__init__"
    place, parts = path.parent, [] if is_init else [path.stem]
    needed = _deepest_relative_import(tree) + (not is_init)
    modules = _imported_modules(tree)
    while place.name.isidentifier() and (
        len(parts) < max(needed, 1) or (folder in place.parents and _is_package(place, modules))
    ):
        parts.insert(0, place.name)
        place = place.parent
    return place, ".".join(parts)


def _is_package(place: Path, modules: frozenset[str]) -> bool:
    if is_file(place / "__init__.py"):
        return True
    inner = {module.split(".")[1] for module in modules if module.startswith(f"{place.name}.")}
    return any(is_folder(place / name) or is_file(place / f"{name}.py") for name in inner)


def _deepest_relative_import(tree: ast.Module) -> int:
    return max((node.level for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)), default=0)


def _imported_modules(tree: ast.Module) -> frozenset[str]:
    """Return the dotted names of what is imported absolutely, ``from a import b`` as ``a.b``."""
    modules = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            modules |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(modules)


_GIVE_ROUTES = frozenset({"routes", "route_handlers", "lifespan", "on_startup", "root"})
"""Arguments by which an application gets its routes where it is made."""
_GIVE_NONE = frozenset({"app_context", "run", "test_client"})
"""Methods that add nothing to an application."""


def is_bare(name: str, made: ast.Call, tree: ast.Module, functions: Collection[str]) -> bool:
    """Tell whether nothing at the level of a module gives the application ``name``, ``made`` so, any routes.

    The module's own ``functions`` may, where they are called.
    """
    if any(keyword.arg in _GIVE_ROUTES for keyword in made.keywords):
        return False
    for node in at_level(tree.body):
        match node:
            case ast.Call(func=ast.Name(id=called), args=arguments, keywords=keywords):
                given = [*arguments, *(keyword.value for keyword in keywords)]
                if called in functions or any(isinstance(each, ast.Name) and each.id == name for each in given):
                    return False
            case ast.Call(func=ast.Attribute(value=inner, attr=method), args=arguments, keywords=keywords):
                given = [*arguments, *(keyword.value for keyword in keywords)]
                is_its_own = isinstance(inner, ast.Name) and inner.id == name and method not in _GIVE_NONE
                if is_its_own or any(isinstance(each, ast.Name) and each.id == name for each in given):
                    return False
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                if any(_names(decorator, name) for decorator in node.decorator_list):
                    return False
    return True


def at_level(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield all nodes but those within functions, and below ``if __name__ == "__main__"``."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "__main__" in ast.unparse(node.test):
            continue
        waiting += ast.iter_child_nodes(node)


def _names(node: ast.expr, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node))


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        match node:
            case ast.If(test=test) if "__main__" in ast.unparse(test):
                continue
            case ast.If() | ast.For() | ast.While():
                yield from statements([*node.body, *node.orelse])
            case ast.With() | ast.AsyncWith():
                yield from statements(node.body)
            case ast.Try():
                handlers = [statement for handler in node.handlers for statement in handler.body]
                # what an ImportError falls back to comes first, so that the usual way has the last word
                yield from statements([*handlers, *node.body, *node.orelse, *node.finalbody])


def bound_names(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement binds at its level."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case ast.ImportFrom(names=names, module=module) if module:
            yield from (alias.asname or alias.name for alias in names)


def returned_values(node: ast.FunctionDef) -> Iterator[ast.expr]:
    """Yield what a function returns, the last first."""
    values = [each.value for each in statements(node.body) if isinstance(each, ast.Return) and each.value]
    yield from reversed(values)


def dotted_name(node: ast.expr, imports: Mapping[str, str]) -> str:
    """Return the dotted name of an expression, its first part replaced by what was imported under it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):  # an annotation in quotes
        return imports.get(node.value, node.value)
    if isinstance(node, ast.Name):
        return imports.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        inner = dotted_name(node.value, imports)
        return f"{inner}{node.attr}" if inner.endswith("::") else f"{inner}.{node.attr}" if inner else ""
    return ""


def calls(node: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls below ``node`` but for those in classes, whose instances may be known by another name."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call):
            yield child
        if not isinstance(child, ast.ClassDef):
            yield from calls(child)


def required_arguments(arguments: ast.arguments) -> Iterator[str]:
    """Yield the arguments that have no default."""
    positional = (*arguments.posonlyargs, *arguments.args)
    yield from (each.arg for each in positional[: len(positional) - len(arguments.defaults)])
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    yield from (each.arg for each, default in named if default is None)
