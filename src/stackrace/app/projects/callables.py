"""Which names of a module are applications, or factories of applications: read from its syntax, never run."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..app import EntryKind
from .code import (
    at_level,
    bound_names,
    calls,
    content,
    dotted_name,
    is_bare,
    parse,
    required_arguments,
    returned_values,
    statements,
)
from .frameworks import (
    CALLED_ATTRIBUTES,
    FACTORIES,
    FILLED_LATER,
    IMPLIED,
    OWN_SERVERS,
    framework_of,
    made_by_method,
    wrapped_kind,
)

_WSGI_PARAMETERS = ("environ", "start_response")
_ASGI_PARAMETERS = ("scope", "receive", "send")
_PROTOCOL_NAMES = frozenset({"app", "application"})
"""Functions of these names are told by the number of their parameters: both protocols give them by position."""
_SAME_APP = frozenset({"app", "asgi_app", "server", "wsgi_app"})
"""Attributes of an application that are its callable, as Dash's ``app.server``."""
_FOR_SERVERS = {"asgi": EntryKind.ASGI, "wsgi": EntryKind.WSGI, "passenger_wsgi": EntryKind.WSGI}
"""Modules whose only purpose is to give servers an application, by name."""
_MOST_HOPS = 6
"""How far a name is followed from module to module."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """An application, or a function that makes one."""

    kind: EntryKind
    title: str
    """Of its framework, or of its interface."""
    path: Path
    """The file that makes it."""
    line: int
    is_factory: bool = False
    required: tuple[str, ...] = ()
    """The arguments that a factory needs."""
    attribute: str = ""
    """The application's attribute that servers call, where they do not call itself."""
    is_guess: bool = False
    """Whether its name alone says so: what it is made of is unknown."""


@dataclass(slots=True)
class _Scope:
    """What the names of a module or function stand for."""

    file: Path
    imports: dict[str, str] = field(default_factory=dict)
    """Local name → dotted name; of the project's own modules ``PATH::name``."""
    names: dict[str, Definition] = field(default_factory=dict)
    functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = field(default_factory=dict)
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)


class CodeIndex:
    """The modules of a project, read when they are asked for; ``roots`` are folders that imports start from."""

    def __init__(self, files: Collection[Path], roots: tuple[Path, ...]) -> None:
        self._files = frozenset(files)
        self._roots = roots
        self._trees: dict[Path, ast.Module] = {}
        self._scopes: dict[Path, _Scope] = {}

    def callables(self, path: Path) -> dict[str, Definition]:
        """Return the applications and factories that the module at ``path`` defines or imports, by name."""
        scope = self._scope(path)
        factories = {name: self._factory(node, scope, 0) for name, node in scope.functions.items()}
        imported = {name: self._imported(dotted, 0) for name, dotted in scope.imports.items()}
        known = {name: made for name, made in (imported | factories | scope.names).items() if made is not None}
        return self._for_servers(path) | self._implied(path) | known

    def tree(self, path: Path) -> ast.Module:
        """Return the syntax tree of a file of the project; an empty one for what cannot be read."""
        if path not in self._trees:
            self._trees[path] = (parse(path) if path in self._files else None) or ast.Module(
                body=[], type_ignores=[]
            )
        return self._trees[path]

    def out_of_reach(self, path: Path) -> tuple[Definition, str] | None:
        """Return the first application that a file makes where no server can import it, and what makes it.

        Such are those below ``if __name__ == "__main__"``, and those that a function makes and keeps.
        """
        tree = self.tree(path)
        imports = {
            name: dotted
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name, dotted in self._imports(node, path)
        }
        for call in calls(tree):
            dotted = dotted_name(call.func, imports)
            if framework := _framework(call, dotted):
                return _new(framework, path, call.lineno), f"{ast.unparse(call.func)}(…)"
        return None

    def implied(self, path: Path) -> tuple[int, str, bool] | None:
        """Return where a module adds to the application that its framework makes by itself, None where it does not.

        With the name that the module has for the function that gives it, empty for none; and whether its import
        runs the application, and so never ends.
        """
        package, giver = IMPLIED
        imports = self._scope(path).imports

        def is_its_own(decorator: ast.expr) -> bool:
            return dotted_name(getattr(decorator, "func", decorator), imports).startswith(f"{package}.")

        uses = [
            node
            for node in at_level(self.tree(path).body)
            if isinstance(node, ast.FunctionDef) and any(map(is_its_own, node.decorator_list))
        ]
        if not uses:
            return None
        runs = [node for node in at_level(self.tree(path).body) if isinstance(node, ast.Call)]
        is_run = any(dotted_name(call.func, imports) == f"{package}.run" for call in runs)
        names = {dotted: name for name, dotted in imports.items()}
        module = f"{names[package]}.{giver}" if package in names else ""
        return min(node.lineno for node in uses), names.get(f"{package}.{giver}", module), is_run

    def is_bare(self, path: Path, name: str) -> bool:
        """Tell whether the application ``name`` of a module gets no routes from any module of the project."""
        scope = self._scope(path)
        values = (
            getattr(node, "value", None) for node in statements(self.tree(path).body) if name in bound_names(node)
        )
        made = next((value for value in values if isinstance(value, ast.Call)), None)
        framework = None if made is None else _framework(made, dotted_name(made.func, scope.imports))
        if made is None or framework is None or framework[1] not in FILLED_LATER:
            return False
        if not is_bare(name, made, self.tree(path), scope.functions):
            return False
        others = (file for file in self._files if file != path and name.encode() in (content(file) or b""))
        return not any(f"{path}::{name}" in self._scope(file).imports.values() for file in others)

    def _implied(self, path: Path) -> dict[str, Definition]:
        found = self.implied(path)
        if found is None or not found[1] or found[2]:
            return {}
        line, name, _ = found
        package, giver = IMPLIED
        framework = framework_of(f"{package}.{giver}")
        assert framework is not None
        return {name: replace(_new(framework, path, line), is_factory=True)}

    def _for_servers(self, path: Path) -> dict[str, Definition]:
        """Return what a module that is there for servers calls an application, by whatever class it is made."""
        kind = _FOR_SERVERS.get(path.stem)
        if kind is None:
            return {}
        bound = {name: node.lineno for node in statements(self.tree(path).body) for name in bound_names(node)}
        return {
            name: replace(_new((kind, kind.name), path, line), is_guess=True)
            for name, line in bound.items()
            if name in _PROTOCOL_NAMES
        }

    def unknown(self, path: Path) -> tuple[int, str] | None:
        """Return the line and the name of what a module calls an application, made by an unknown package."""
        imports = self._scope(path).imports
        for node in statements(self.tree(path).body):
            if not isinstance(node, ast.Assign | ast.AnnAssign) or not isinstance(node.value, ast.Call):
                continue
            made: ast.expr = node.value
            while isinstance(made, ast.Call | ast.Attribute):
                made = made.func if isinstance(made, ast.Call) else made.value
            package = dotted_name(made, imports).partition(".")[0]
            is_known = (
                not isinstance(made, ast.Name) or made.id not in imports or "::" in dotted_name(made, imports)
            )
            names = [name for name in bound_names(node) if name in _PROTOCOL_NAMES]
            if names and not is_known and package not in {*sys.stdlib_module_names, *OWN_SERVERS}:
                return node.lineno, names[0]
        return None

    def imported_files(self, path: Path) -> frozenset[Path]:
        """Return the project's own modules that the module at ``path`` imports from."""
        return frozenset(
            Path(dotted.partition("::")[0]) for dotted in self._scope(path).imports.values() if "::" in dotted
        )

    def _scope(self, path: Path) -> _Scope:
        if path not in self._scopes:
            scope = self._scopes[path] = _Scope(path)
            self._read(self.tree(path).body, scope, 0)
        return self._scopes[path]

    def _read(self, body: list[ast.stmt], scope: _Scope, hops: int) -> None:
        """Take in statements in their order, also those below ``if``, ``try`` and ``with``."""
        for node in statements(body):
            match node:
                case ast.Import() | ast.ImportFrom():
                    scope.imports |= dict(self._imports(node, scope.file))
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    scope.functions[node.name] = node
                    if made := _protocol_callable(node, scope.file):
                        scope.names[node.name] = made
                case ast.ClassDef():
                    scope.classes[node.name] = node
                case ast.Assign(targets=[ast.Tuple(elts=[ast.Name(id=name), *_])], value=value):
                    self._assign(name, value, scope, hops)
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        if isinstance(target, ast.Name):
                            self._assign(target.id, value, scope, hops)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    self._assign(name, value, scope, hops)

    def _assign(self, name: str, value: ast.expr, scope: _Scope, hops: int) -> None:
        made = self._made(value, scope, hops)
        if made is not None and not made.is_factory:
            scope.names[name] = made

    def _made(self, value: ast.expr, scope: _Scope, hops: int) -> Definition | None:
        """Return the application that an expression gives, None for anything else."""
        match value:
            case ast.Name(id=name):
                if name in scope.names:
                    return scope.names[name]
                return self._imported(scope.imports.get(name, ""), hops)
            case ast.Attribute(value=inner, attr=attribute) if attribute in _SAME_APP:
                made = self._made(inner, scope, hops)
                return None if made is None else replace(made, attribute="")
            case ast.Call():
                return self._called(value, scope, hops)
        return None

    def _called(self, call: ast.Call, scope: _Scope, hops: int) -> Definition | None:
        dotted = dotted_name(call.func, scope.imports)
        if framework := _framework(call, dotted):
            return _new(framework, scope.file, call.lineno)
        own = self._of_project(call.func, scope, dotted, hops)
        if own is not None:
            return replace(own, is_factory=False, path=scope.file, line=call.lineno)
        return self._wrapped(call, dotted, scope, hops)

    def _of_project(self, function: ast.expr, scope: _Scope, dotted: str, hops: int) -> Definition | None:
        """Return what a call of the project's own function or class gives."""
        if hops > _MOST_HOPS:
            return None
        if isinstance(function, ast.Name) and function.id in scope.functions:
            return self._factory(scope.functions[function.id], scope, hops + 1)
        if isinstance(function, ast.Name) and function.id in scope.classes:
            return self._class(scope.classes[function.id], scope, hops + 1)
        if "::" not in dotted:
            return None
        path, _, name = dotted.partition("::")
        there = self._scope(Path(path))
        if name in there.classes:
            return self._class(there.classes[name], there, hops + 1)
        imported = self._imported(dotted, hops + 1)
        return imported if imported is not None and imported.is_factory else None

    def _wrapped(self, call: ast.Call, dotted: str, scope: _Scope, hops: int) -> Definition | None:
        """Return the application inside of a wrapper: ``ProxyFix(app)``, ``CORSMiddleware(app=app)``."""
        arguments = [*call.args[:2], *(keyword.value for keyword in call.keywords if keyword.arg in _SAME_APP)]
        for argument in arguments:
            inner = self._made(argument, scope, hops)
            if inner is not None and not inner.is_factory:
                return replace(inner, kind=wrapped_kind(dotted, inner.kind), line=call.lineno)
        return None

    def _class(self, node: ast.ClassDef, scope: _Scope, hops: int) -> Definition | None:
        """Return what instances of a class are: a framework's application, or one by its ``__call__``."""
        for method in node.body:
            if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and method.name == "__call__":
                return _protocol_callable(method, scope.file, skipped=1)
        for base in node.bases:
            dotted = dotted_name(base, scope.imports)
            if framework := framework_of(dotted):
                return _new(framework, scope.file, node.lineno)
            if own := self._of_project(base, scope, dotted, hops):
                return own
        return None

    def _factory(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: _Scope, hops: int) -> Definition | None:
        """Return what a function makes, if that is an application."""
        if isinstance(node, ast.AsyncFunctionDef) or node.name in scope.names or hops > _MOST_HOPS:
            return None
        inner = _Scope(
            scope.file, dict(scope.imports), dict(scope.names), dict(scope.functions), dict(scope.classes)
        )
        inner.functions.pop(node.name, None)
        self._read(node.body, inner, hops + 1)
        returned = (self._made(value, inner, hops + 1) for value in returned_values(node))
        made = next((each for each in returned if each is not None and not each.is_factory), None)
        framework = None if node.returns is None else framework_of(dotted_name(node.returns, scope.imports))
        if made is None and framework is not None and node.name in (*FACTORIES, "get_application", "app"):
            made = _new(framework, scope.file, node.lineno)
        if made is None:
            return None
        filled = next((name for name, known in scope.names.items() if known == made), None)
        if filled is not None and not (node.name in FACTORIES and self.is_bare(scope.file, filled)):
            return None
        return replace(
            made, path=scope.file, line=node.lineno, is_factory=True, required=tuple(required_arguments(node.args))
        )

    def _imported(self, dotted: str, hops: int) -> Definition | None:
        """Follow a name into another module of the project."""
        path, mark, name = dotted.partition("::")
        if not mark or not name or hops > _MOST_HOPS:
            return None
        scope = self._scope(Path(path))
        if name in scope.names:
            return scope.names[name]
        if name in scope.functions:
            return self._factory(scope.functions[name], scope, hops + 1)
        return self._imported(scope.imports.get(name, ""), hops + 1)

    def _imports(self, node: ast.Import | ast.ImportFrom, file: Path) -> Iterator[tuple[str, str]]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.name if alias.asname else alias.name.partition(".")[0]
                module = self.module_file(bound, file)
                yield alias.asname or bound, f"{module}::" if module else bound
            return
        for alias in node.names:
            yield alias.asname or alias.name, self._dotted_import(node, alias.name, file)

    def _dotted_import(self, node: ast.ImportFrom, name: str, file: Path) -> str:
        """Return what ``from … import name`` binds: a submodule, unless the package has something of that name."""
        dotted = f"{node.module}.{name}"
        if not node.level and framework_of(dotted):
            return dotted
        home = self._relative(node, file) if node.level else self.module_file(node.module or "", file)
        if home is None:
            return dotted
        inner = self._file(home.parent / name) if home.name == "__init__.py" else None
        return f"{home}::{name}" if inner is None or self._defines(home, name) else f"{inner}::"

    def _defines(self, home: Path, name: str) -> bool:
        return any(name in bound_names(node) for node in statements(self.tree(home).body))

    def module_file(self, module: str, near: Path | None = None) -> Path | None:
        """Return the project's file of a dotted name, None for a module from elsewhere."""
        roots = (*self._roots, near.parent) if near is not None else self._roots
        for root in roots:
            if file := self._file(root.joinpath(*module.split("."))):
                return file
        return None

    def _relative(self, node: ast.ImportFrom, file: Path) -> Path | None:
        base = file.parent
        for _ in range(node.level - 1):
            base = base.parent
        return self._file(base.joinpath(*node.module.split(".")) if node.module else base)

    def _file(self, place: Path) -> Path | None:
        for path in (place / "__init__.py", place.with_name(f"{place.name}.py")):
            if path in self._files:
                return path
        return None


def _protocol_callable(
    node: ast.FunctionDef | ast.AsyncFunctionDef, file: Path, skipped: int = 0
) -> Definition | None:
    """Return a function that is an application by its parameters, their names or their number."""
    asynchronous = isinstance(node, ast.AsyncFunctionDef)
    kind, usual = (EntryKind.ASGI, _ASGI_PARAMETERS) if asynchronous else (EntryKind.WSGI, _WSGI_PARAMETERS)
    names = tuple(argument.arg for argument in (*node.args.posonlyargs, *node.args.args))[skipped:]
    is_app = names == usual or (node.name in _PROTOCOL_NAMES and len(names) == len(usual))
    return _new((kind, kind.name), file, node.lineno) if is_app else None


def _framework(call: ast.Call, dotted: str) -> tuple[EntryKind, str] | None:
    """Return interface and title of the application that a call of ``dotted`` makes."""
    if framework := framework_of(dotted):
        return framework
    return made_by_method(call.func.attr) if isinstance(call.func, ast.Attribute) else None


def _new(framework: tuple[EntryKind, str], file: Path, line: int) -> Definition:
    kind, title = framework
    return Definition(kind=kind, title=title, path=file, line=line, attribute=CALLED_ATTRIBUTES.get(title, ""))
