"""What the statements of a module bind, call and return, and whether an application gets routes: syntax alone."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

__all__ = [
    "at_level",
    "bound_names",
    "calls",
    "dotted_name",
    "is_bare",
    "required_arguments",
    "returned_values",
    "statements",
]

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
