"""Which applications of a module get no routes: a function fills them, or makes another."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

__all__ = ["at_level", "is_bare"]

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
