"""The applications in a project's code, and the ones that its deployment files name."""

from __future__ import annotations

import ast
import json
import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import partial
from pathlib import Path, PurePosixPath
from shlex import join

from ...base.errors import InputError
from ...base.files import is_file, is_folder, is_present
from ..app import Entry, EntryKind, entry_of
from ..project_files import ProjectFiles
from .callables import CodeIndex, Definition
from .code import content, is_aside, python_files, syntax_error
from .deployment_command import shown
from .deployment_files import DeploymentCommand, deployment_commands
from .frameworks import FACTORIES, MENTIONED, OWN_SERVERS
from .served_app import APP_VARIABLES, PROGRAMS, ServedApp, served_app
from .starts import starts

_FILES = ("wsgi", "asgi", "main", "app", "application", "server", "run", "passenger_wsgi", "__init__")
"""Usual names of the file that a server is pointed to, the most usual first."""
_NAMES = ("app", "application")
_PASTED = re.compile(rb"^\[(app|composite|filter-app|pipeline)(:main)?\]", re.MULTILINE)


class Rank(IntEnum):
    """Certainty that a candidate is the app that the user runs; the lowest value is the surest."""

    USUAL = 0
    """An application by a usual name."""
    OTHER = 1
    """An application by another name."""
    FACTORY = 2
    """A function by a usual name that creates an application and needs no arguments."""
    UNLIKELY = 3
    """Another function, an example or a tool."""
    TEST = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An application that could be raced."""

    root: Path
    """Folder that imports start from."""
    entry: Entry
    title: str
    """Title of its framework."""
    location: str
    """File, relative to the project, and line: ``app.py, line 5``; empty for the usual place."""
    rank: Rank = Rank.USUAL
    is_filled: bool = False
    """True if code of the project makes it, and so probably gives it routes."""
    origin: tuple[Path, int] = (Path(), 0)
    """File and line that create the application: two names of the same application have the same origin."""

    @property
    def name(self) -> str:
        """Name in its module, without a call."""
        return self.entry.target.partition(":")[2].partition("(")[0]

    @property
    def module(self) -> str:
        """The last part of its module's name."""
        return self.entry.target.partition(":")[0].rpartition(".")[2]

    def flags(self, folder: Path) -> list[str]:
        """Return the flags of ``stackrace run`` that race this candidate from ``folder``."""
        location = shown(self.root, folder)
        project = [] if location == "." else ["--project", location]
        if self.entry.kind is EntryKind.DJANGO:
            return project
        return [*project, f"--{self.entry.kind}", self.entry.target]


class ProjectCode:
    """The Python code in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = tuple(python_files(folder))
        self._known = frozenset(self.files)
        roots = (
            folder,
            folder / "src",
            *(path for path in folders_in(folder) if not is_present(path / "__init__.py")),
        )
        self._index = CodeIndex(self.files, roots)

    @property
    def has_code(self) -> bool:
        """True if there is more than tests, examples and tools; notebooks are code, too."""
        return any(not is_aside(path, self.folder) for path in self.files) or _has_notebooks(self.folder)

    def own_servers(self) -> tuple[str, ...]:
        """Return the frameworks in use that run only on their own server."""
        texts = [content(path) or b"" for path in self.files]
        return tuple(name for name, sign in OWN_SERVERS.items() if any(sign.search(text) for text in texts))

    def out_of_reach(self) -> tuple[str, ...]:
        """Return one sentence for each file that looks like an app but holds none: the reason and the remedy."""
        files = (path for path in self.files if not is_aside(path, self.folder))
        return tuple(reason for path in files for reason in self._reasons(path))

    def _reasons(self, path: Path) -> Iterator[str]:
        file, command = shown(path, self.folder), partial(self._command, path)
        if not MENTIONED.search(content(path) or b""):
            if unknown := self._index.unknown(path):
                line, name = unknown
                asgi, wsgi = (command(kind, name) for kind in (EntryKind.ASGI, EntryKind.WSGI))
                yield f"{file}, line {line}, makes {name} with an unknown package; try: {asgi}, or: {wsgi}"
        elif error := syntax_error(path):
            yield f"{file}, line {error.lineno}, cannot be read by Python {platform.python_version()}: {error.msg}"

    def _command(self, path: Path, kind: EntryKind, name: str) -> str:
        root, module = self._import_name(path)
        candidate = Candidate(root=root, entry=Entry(kind=kind, target=f"{module}:{name}"), title="", location="")
        return join(["stackrace", "run", *candidate.flags(Path.cwd())])

    def defined(self, elsewhere: Sequence[Path] = ()) -> tuple[Candidate, ...]:
        """Return the applications in the code outside the folders ``elsewhere``, each once, the surest first."""
        by_origin: dict[tuple[Path, int], list[Candidate]] = {}
        for path in self.files:
            if any(path.is_relative_to(folder) for folder in elsewhere):
                continue
            if path.stem in _FILES or MENTIONED.search(content(path) or b""):
                for candidate in self._of_file(path):
                    by_origin.setdefault(candidate.origin, []).append(candidate)
        kept = [min(same, key=self._preference) for same in by_origin.values()]
        found = sorted(self._whole(kept), key=self._preference)
        return (*found, *(self._pasted() if any(each.title == "Pyramid" for each in found) else ()))

    def _pasted(self) -> Iterator[Candidate]:
        """Yield the applications in Pyramid's ini files, ranked as factories, since wsgi.py may serve the same.

        Of the files in a folder with a production.ini, only this one counts: the others are for the same app.
        """
        found = [path for pattern in ("*.ini", "*/*.ini") for path in self.folder.glob(pattern)]
        for path in sorted(found, key=lambda path: (path.stem != "production", path)):
            is_one = not is_aside(path, self.folder) and not path.name.startswith("test")
            is_one &= path.stem == "production" or not is_file(path.with_name("production.ini"))
            if is_one and _PASTED.search(content(path) or b""):
                location = shown(path, self.folder)
                entry = Entry(kind=EntryKind.WSGI, target=f"pyramid.paster:get_app({json.dumps(location)})")
                yield Candidate(
                    root=self.folder,
                    entry=entry,
                    title="Pyramid",
                    location=location,
                    rank=Rank.FACTORY,
                    origin=(path, 0),
                )

    def in_file(self, path: Path) -> tuple[Candidate, ...]:
        """Return the applications in the file at ``path``, the surest first."""
        return tuple(sorted(self._of_file(path), key=self._preference))

    def deployed(self) -> tuple[Candidate, ...]:
        """Return the applications that deployment files start, each once, in the order of the files."""
        named: dict[tuple[Path, str], Candidate] = {}
        project = ProjectFiles(self.folder)
        for command in deployment_commands(self.folder):
            for start in starts(command, project, PROGRAMS)[0]:
                served = served_app(start.words, start.variables, start.folder)
                candidate = None if served is None else self._served(served, start)
                if candidate is not None:
                    named.setdefault((candidate.root, candidate.entry.target), candidate)
        return tuple(named.values())

    def of_variable(self, environ: Mapping[str, str]) -> Candidate | None:
        """Return the application that FLASK_APP or QUART_APP names, as ``flask run`` and ``quart run`` take it.

        None if the folder has none of that name.
        """
        for program, variable in APP_VARIABLES.items():
            words = (program, "--app", environ.get(variable, ""), "run")
            served = served_app(words, {}) if words[2] else None
            command = DeploymentCommand(file=self.folder / variable, words=words)
            if served is not None and (found := self._served(served, command)) is not None:
                return found
        return None

    def _of_file(self, path: Path) -> Iterator[Candidate]:
        root, module = self._import_name(path)
        if not module or module == "__main__":
            return
        for name, definition in self._index.callables(path).items():
            if not name.startswith("_"):
                yield self._candidate(path, root, module, name, definition)

    def _import_name(self, path: Path) -> tuple[Path, str]:
        return _import_name(path, self._index.tree(path), self.folder)

    def _candidate(self, path: Path, root: Path, module: str, name: str, definition: Definition) -> Candidate:
        wanted = ", ".join(f'{argument}="…"' for argument in definition.required)
        called = name + (f"({wanted})" if definition.is_factory else "")
        if definition.attribute and not definition.is_factory:
            called += f".{definition.attribute}"
        return Candidate(
            root=root,
            entry=Entry(kind=definition.kind, target=f"{module}:{called}"),
            title=definition.title,
            location=shown(path, self.folder) + (f", line {definition.line}" if definition.path == path else ""),
            rank=self._rank(path, name, definition),
            is_filled=definition.is_filled,
            origin=(definition.path, definition.line),
        )

    def _rank(self, path: Path, name: str, definition: Definition) -> Rank:
        if is_aside(path, self.folder):
            parts = path.relative_to(self.folder).parts
            return Rank.TEST if any(part.startswith("test") for part in parts) else Rank.UNLIKELY
        if definition.is_factory:
            is_usual = name.rpartition(".")[2] in FACTORIES
            return Rank.FACTORY if is_usual and not definition.required else Rank.UNLIKELY
        return Rank.USUAL if name in _NAMES and not definition.is_guess else Rank.OTHER

    def _preference(self, candidate: Candidate) -> tuple[int, int, int, str]:
        module, _, name = candidate.entry.target.partition(":")
        stem = candidate.module
        usual = _FILES.index(stem) if stem in _FILES else len(_FILES)
        # depth counts from the project's folder: a tool in its own folder has a short module name, too
        depth = len(candidate.root.parts) + module.count(".")
        return candidate.rank, depth, usual, f"{module}:{name}"

    def _whole(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """Leave out a candidate of the best rank if another of that rank imports its file, and so contains it."""
        kept = list(candidates)
        best = min((candidate.rank for candidate in kept), default=Rank.USUAL)
        tops = [candidate for candidate in kept if candidate.rank == best]
        parts = {
            path
            for candidate in tops
            for path in self._index.imported_files(candidate.origin[0])
            if path != candidate.origin[0]
        }
        wholes = [candidate for candidate in tops if candidate.origin[0] not in parts]
        return kept if not wholes else [each for each in kept if each in wholes or each not in tops]

    def _served(self, served: ServedApp, command: DeploymentCommand) -> Candidate | None:
        path, root, module = self._module(served)
        if path is None or not module:
            return None
        definitions = self._index.callables(path)
        name, call, arguments = served.name.partition("(")
        if not name:
            chosen = self.in_file(path)
            return replace(chosen[0], location=shown(command.file, self.folder)) if chosen else None
        definition = definitions.get(name)
        kind = served.kind if definition is None else definition.kind
        is_factory = served.is_factory or (definition is not None and definition.is_factory)
        target = f"{module}:{name}" + (call + arguments if call else "()" if is_factory else "")
        try:
            entry = entry_of(kind, target)
        except InputError:
            return None
        return Candidate(
            root=root,
            entry=entry,
            title=kind.upper() if definition is None else definition.title,
            location=shown(command.file, self.folder),
            origin=(path, 0) if definition is None else (definition.path, definition.line),
        )

    def _module(self, served: ServedApp) -> tuple[Path | None, Path, str]:
        is_file = served.module.endswith(".py") or "/" in served.module
        parts = [served.module.removesuffix(".py")] if is_file else served.module.split(".")
        for base in self._bases(served.folder):
            location = base.joinpath(*parts)
            module, package = location.with_name(f"{location.name}.py"), location / "__init__.py"
            for path in (module, package) if is_file else (package, module):
                if path in self._known:
                    return (path, *self._import_name(path)) if is_file else (path, base, served.module)
        return None, self.folder, ""

    def _bases(self, folder: str) -> Iterator[Path]:
        """Yield the folders that imports may start from; a folder in an image is tried by its last parts."""
        parts = PurePosixPath(folder).parts
        for start in range(len(parts)):
            location = self.folder.joinpath(*(part for part in parts[start:] if part not in ("/", "..")))
            if is_folder(location):
                yield location
        yield from (self.folder, self.folder / "src", *folders_in(self.folder))


def folders_in(folder: Path) -> list[Path]:
    """Return the folders right below ``folder`` that are not hidden."""
    try:
        return sorted(path for path in folder.iterdir() if is_folder(path) and not path.name.startswith("."))
    except OSError:
        return []


def _has_notebooks(folder: Path) -> bool:
    return any(any(folder.glob(pattern)) for pattern in ("*.ipynb", "*/*.ipynb"))


def _import_name(path: Path, tree: ast.Module, folder: Path) -> tuple[Path, str]:
    """Return the folder that imports of a project's module start from, and the module's dotted name.

    A folder without ``__init__.py`` is a package if the module imports from it by its name, or relatively.
    """
    is_init = path.stem == "__init__"
    location, parts = path.parent, [] if is_init else [path.stem]
    needed = _deepest_relative_import(tree) + (not is_init)
    modules = _imported_modules(tree)
    while location.name.isidentifier() and (
        len(parts) < max(needed, 1) or (folder in location.parents and _is_package(location, modules))
    ):
        parts.insert(0, location.name)
        location = location.parent
    return location, ".".join(parts)


def _is_package(location: Path, modules: frozenset[str]) -> bool:
    if is_file(location / "__init__.py"):
        return True
    inner = {module.split(".")[1] for module in modules if module.startswith(f"{location.name}.")}
    return any(is_folder(location / name) or is_file(location / f"{name}.py") for name in inner)


def _deepest_relative_import(tree: ast.Module) -> int:
    return max((node.level for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)), default=0)


def _imported_modules(tree: ast.Module) -> frozenset[str]:
    modules = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            modules |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(modules)
