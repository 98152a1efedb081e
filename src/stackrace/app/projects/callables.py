"""Find the applications and application factories of a module in its syntax tree; no code is run.

Names are followed to their values, and calls to their return values, as far as these may be applications.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..app import EntryKind
from .code import parse
from .frameworks import FACTORIES, OWN_SERVERS, Framework, framework_of, wrapped_kind

_WSGI_PARAMETERS = ("environ", "start_response")
_ASGI_PARAMETERS = ("scope", "receive", "send")
_PROTOCOL_NAMES = frozenset({"app", "application"})
"""Names of functions that count as applications by the number of parameters: servers pass them by position."""
_SAME_APP = frozenset({"app", "asgi_app", "server", "wsgi_app"})
"""Attributes and keyword arguments that hold an application's callable, such as Dash's ``app.server``."""
_LIKE_AN_APP = re.compile(r"app|[aw]sgi|server|handler", re.IGNORECASE)
"""Names of applications made from others."""
_FOR_SERVERS = {"asgi": EntryKind.ASGI, "wsgi": EntryKind.WSGI, "passenger_wsgi": EntryKind.WSGI}
"""Modules whose only purpose is to give servers an application, by name."""
_MOST_HOPS = 6
"""Largest number of modules and calls through which a name is followed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """An application, or a function that makes one."""

    kind: EntryKind
    title: str
    """Title of its framework or of its interface."""
    path: Path
    """File that creates the application."""
    line: int
    is_factory: bool = False
    required: tuple[str, ...] = ()
    """Names of the arguments that a factory requires."""
    attribute: str = ""
    """The application's attribute that servers call; empty if they call the application itself."""
    is_guess: bool = False
    """True if only the name suggests an application: its class is unknown."""
    is_wrapped: bool = False
    """True if it was made from another application: middleware, but perhaps a test client or an extension."""
    is_filled: bool = False
    """True if a function or class of the project makes it, and so probably gives it routes."""


@dataclass(frozen=True, slots=True)
class _Named:
    """A name in a module of the project; the module itself if ``name`` is empty."""

    file: Path
    name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class _Code:
    """A function or class of the project, in the scope that defines it."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    scope: _Scope


_Value = str | _Named | _Code | Definition
"""Value of a name; a string is the dotted name of an object from outside the project."""
_FIRMNESS = {_Code: 1, Definition: 2}


@dataclass(slots=True)
class _Scope:
    file: Path
    names: dict[str, _Value] = field(default_factory=dict)
    imported: set[_Named] = field(default_factory=set)
    """Everything imported from other modules of the project, even if its name is bound again later."""

    def bind(self, name: str, value: _Value) -> None:
        """Bind ``name`` to ``value``, unless it has a surer value: an import may be one of two alternatives."""
        if _FIRMNESS.get(type(value), 0) >= _FIRMNESS.get(type(self.names.get(name)), 0):
            self.names[name] = value


class CodeIndex:
    """Modules of a project, each parsed on first use; ``roots`` are the folders that imports start from."""

    def __init__(self, files: Collection[Path], roots: tuple[Path, ...]) -> None:
        self._files = frozenset(files)
        self._roots = roots
        self._trees: dict[Path, ast.Module] = {}
        self._scopes: dict[Path, _Scope] = {}

    def callables(self, path: Path) -> dict[str, Definition]:
        """Return the applications and factories that the module at ``path`` defines or imports, by name."""
        found = {name: self._application(value) for name, value in self._scope(path).names.items()}
        known = {name: made for name, made in found.items() if made is not None}
        return self._for_servers(path) | known

    def _application(self, value: _Value) -> Definition | None:
        resolved = self._resolved(value, 0)
        if isinstance(resolved, _Code):
            return self._factory(resolved, 0)
        return resolved if isinstance(resolved, Definition) else None

    def tree(self, path: Path) -> ast.Module:
        """Return the syntax tree of a project's file; an empty tree for any other or unreadable file."""
        if path not in self._trees:
            self._trees[path] = (parse(path) if path in self._files else None) or ast.Module(
                body=[], type_ignores=[]
            )
        return self._trees[path]

    def imported_files(self, path: Path) -> frozenset[Path]:
        """Return the project's own modules that the module at ``path`` imports from."""
        return frozenset(named.file for named in self._scope(path).imported)

    def unknown(self, path: Path) -> tuple[int, str] | None:
        """Return line and name of an ``app`` or ``application`` made by an unknown package; None without one."""
        scope = self._scope(path)
        for node in _statements(self.tree(path).body):
            if not isinstance(node, ast.Assign | ast.AnnAssign) or not isinstance(node.value, ast.Call):
                continue
            made: ast.expr = node.value
            while isinstance(made, ast.Call | ast.Attribute):
                made = made.func if isinstance(made, ast.Call) else made.value
            value = scope.names.get(made.id) if isinstance(made, ast.Name) else None
            package = value.partition(".")[0] if isinstance(value, str) else ""
            names = [name for name in _bound_names(node) if name in _PROTOCOL_NAMES]
            if names and package and package not in {*sys.stdlib_module_names, *OWN_SERVERS}:
                return node.lineno, names[0]
        return None

    def _for_servers(self, path: Path) -> dict[str, Definition]:
        """Return every ``app`` and ``application`` in a module for servers (``wsgi.py``), whatever its class is."""
        kind = _FOR_SERVERS.get(path.stem)
        if kind is None:
            return {}
        bound = {name: node.lineno for node in _statements(self.tree(path).body) for name in _bound_names(node)}
        return {
            name: replace(_new(Framework(kind, kind.name), path, line), is_guess=True)
            for name, line in bound.items()
            if name in _PROTOCOL_NAMES
        }

    def _scope(self, path: Path) -> _Scope:
        if path not in self._scopes:
            scope = self._scopes[path] = _Scope(path)
            self._read(self.tree(path).body, scope, 0)
        return self._scopes[path]

    def _read(self, body: list[ast.stmt], scope: _Scope, hops: int) -> None:
        """Bind the names of statements in order, including statements below ``if``, ``try`` and ``with``."""
        for node in _statements(body):
            match node:
                case ast.Import() | ast.ImportFrom():
                    self._import(node, scope)
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    scope.bind(node.name, _Code(node, scope))
                    if made := _protocol_callable(node, scope.file):
                        scope.bind(node.name, made)
                case ast.ClassDef():
                    scope.bind(node.name, _Code(node, scope))
                case ast.Assign(targets=targets, value=value):
                    self._assign(targets, value, scope, hops)
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    self._assign([target], value, scope, hops)

    def _assign(self, targets: list[ast.expr], value: ast.expr, scope: _Scope, hops: int) -> None:
        """Bind the targets to the application that ``value`` gives; of a tuple of targets, only the first."""
        firsts = (each.elts[0] if isinstance(each, ast.Tuple) and each.elts else each for each in targets)
        names = [each.id for each in firsts if isinstance(each, ast.Name)]
        made = self._value(value, scope, hops) if names else None
        if isinstance(made, Definition):
            for name in names:
                is_known = isinstance(scope.names.get(name), Definition) or _LIKE_AN_APP.search(name)
                if is_known or not made.is_wrapped:
                    scope.bind(name, made)

    def _value(self, node: ast.expr, scope: _Scope, hops: int) -> _Value | None:
        """Return the value of an expression; None if it has nothing to do with applications."""
        match node:
            case ast.Name(id=name):
                return self._resolved(scope.names.get(name, name), hops)
            case ast.Attribute(value=inner, attr=attribute):
                return self._attribute(self._value(inner, scope, hops), attribute, hops)
            case ast.Call():
                return self._made(node, scope, hops)
        return None

    def _resolved(self, value: _Value | None, hops: int) -> _Value | None:
        while isinstance(value, _Named) and value.name and hops <= _MOST_HOPS:
            value, hops = self._scope(value.file).names.get(value.name), hops + 1
        return value

    def _attribute(self, value: _Value | None, attribute: str, hops: int) -> _Value | None:
        match value:
            case str():
                return f"{value}.{attribute}"
            case _Named(file=file, name=""):
                return self._resolved(_Named(file, attribute), hops)
            case Definition() if attribute in _SAME_APP:
                return replace(value, attribute="")
        return None

    def _made(self, call: ast.Call, scope: _Scope, hops: int) -> Definition | None:
        function = self._value(call.func, scope, hops)
        if framework := _framework(call, function):
            return _new(framework, scope.file, call.lineno)
        if isinstance(function, _Code) and (made := self._called(function, hops + 1)):
            return replace(made, is_factory=False, is_filled=True, path=scope.file, line=call.lineno)
        # ProxyFix(app), CORSMiddleware(app=app)
        for argument in (*call.args[:2], *(each.value for each in call.keywords if each.arg in _SAME_APP)):
            inner = self._value(argument, scope, hops)
            if isinstance(inner, Definition):
                kind = wrapped_kind(function if isinstance(function, str) else "", inner.kind)
                return replace(inner, kind=kind, line=call.lineno, is_wrapped=True)
        return None

    def _called(self, code: _Code, hops: int) -> Definition | None:
        if hops > _MOST_HOPS:
            return None
        if isinstance(code.node, ast.ClassDef):
            return self._instance(code.node, code.scope, hops)
        return self._factory(code, hops)

    def _instance(self, node: ast.ClassDef, scope: _Scope, hops: int) -> Definition | None:
        for method in node.body:
            if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and method.name == "__call__":
                return _protocol_callable(method, scope.file, skipped=1)
        for base in node.bases:
            value = self._value(base, scope, hops)
            if isinstance(value, str) and (framework := framework_of(value)):
                return _new(framework, scope.file, node.lineno)
            if isinstance(value, _Code) and (made := self._called(value, hops + 1)):
                return made
        return None

    def _factory(self, code: _Code, hops: int) -> Definition | None:
        node, scope = code.node, code.scope
        if not isinstance(node, ast.FunctionDef) or hops > _MOST_HOPS:
            return None
        inner = _Scope(scope.file, dict(scope.names))
        inner.names.pop(node.name, None)
        self._read(node.body, inner, hops + 1)
        returned = (self._value(value, inner, hops + 1) for value in _returned_values(node))
        made = next((each for each in returned if isinstance(each, Definition)), None)
        framework = framework_of(self._annotation(node.returns, scope))
        if made is None and framework is not None and node.name in (*FACTORIES, "get_application", "app"):
            made = _new(framework, scope.file, node.lineno)
        if made is None:
            return None
        # it returns the module's own application, and may fill it only if it has a usual name
        if node.name not in FACTORIES and made in scope.names.values():
            return None
        return replace(
            made, path=scope.file, line=node.lineno, is_factory=True, required=tuple(_required(node.args))
        )

    def _annotation(self, node: ast.expr | None, scope: _Scope) -> str:
        """Return the dotted name of a type, quoted or not, from outside the project; empty for any other type."""
        if isinstance(node, ast.Constant):
            node = ast.Name(str(node.value))
        value = None if node is None else self._value(node, scope, 0)
        return value if isinstance(value, str) else ""

    def _import(self, node: ast.Import | ast.ImportFrom, scope: _Scope) -> None:
        for alias in node.names:
            if isinstance(node, ast.Import):
                bound = alias.name if alias.asname else alias.name.partition(".")[0]
                module = self._module_file(bound, scope.file)
                value: str | _Named = _Named(module) if module else bound
                name = alias.asname or bound
            else:
                name, value = alias.asname or alias.name, self._imported(node, alias.name, scope.file)
            scope.bind(name, value)
            if isinstance(value, _Named):
                scope.imported.add(value)

    def _imported(self, node: ast.ImportFrom, name: str, file: Path) -> str | _Named:
        """Return what ``from … import name`` binds: a submodule, unless the package itself binds that name."""
        dotted = f"{node.module}.{name}"
        if not node.level and framework_of(dotted):
            return dotted
        home = self._relative(node, file) if node.level else self._module_file(node.module or "", file)
        if home is None:
            return dotted
        inner = self._file(home.parent / name) if home.name == "__init__.py" else None
        is_bound = any(name in _bound_names(each) for each in _statements(self.tree(home).body))
        return _Named(home, name) if inner is None or is_bound else _Named(inner)

    def _module_file(self, module: str, near: Path) -> Path | None:
        places = (self._file(root.joinpath(*module.split("."))) for root in (*self._roots, near.parent))
        return next(filter(None, places), None)

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
    """Return a function as an application, if the names or number of its parameters say so; else None."""
    asynchronous = isinstance(node, ast.AsyncFunctionDef)
    kind, usual = (EntryKind.ASGI, _ASGI_PARAMETERS) if asynchronous else (EntryKind.WSGI, _WSGI_PARAMETERS)
    names = tuple(argument.arg for argument in (*node.args.posonlyargs, *node.args.args))[skipped:]
    is_app = names == usual or (node.name in _PROTOCOL_NAMES and len(names) == len(usual))
    return _new(Framework(kind, kind.name), file, node.lineno) if is_app else None


def _framework(call: ast.Call, function: _Value | None) -> Framework | None:
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return framework_of(function if isinstance(function, str) else "", method)


def _new(framework: Framework, file: Path, line: int) -> Definition:
    return Definition(
        kind=framework.kind, title=framework.title, path=file, line=line, attribute=framework.attribute
    )


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        match node:
            case ast.If(test=test) if "__main__" in ast.unparse(test):
                continue
            case ast.If() | ast.For() | ast.While():
                yield from _statements([*node.body, *node.orelse])
            case ast.With() | ast.AsyncWith():
                yield from _statements(node.body)
            case ast.Try():
                handlers = [statement for handler in node.handlers for statement in handler.body]
                # handlers come first, so that a name bound in the try body replaces its fallback
                yield from _statements([*handlers, *node.body, *node.orelse, *node.finalbody])


def _bound_names(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case ast.ImportFrom(names=names, module=module) if module:
            yield from (alias.asname or alias.name for alias in names)


def _returned_values(node: ast.FunctionDef) -> Iterator[ast.expr]:
    values = [each.value for each in _statements(node.body) if isinstance(each, ast.Return) and each.value]
    yield from reversed(values)


def _required(arguments: ast.arguments) -> Iterator[str]:
    positional = (*arguments.posonlyargs, *arguments.args)
    yield from (each.arg for each in positional[: len(positional) - len(arguments.defaults)])
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    yield from (each.arg for each, default in named if default is None)
