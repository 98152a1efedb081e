"""What a shell would make of a command's words, as far as that can be known without one."""

from __future__ import annotations

import ast
import operator
import os
import re
from collections.abc import Callable, Mapping

__all__ = ["expanded"]

_VARIABLE = re.compile(
    r"\$\{(?P<braced>\w+)(?:(?P<how>:?[-=?+])(?P<other>[^{}]*))?\}|\$(?P<plain>[A-Za-z_]\w*)|%\(ENV_(?P<env>\w+)\)s"
)
_CORES = re.compile(r"\$\(\s*nproc(?:\s+--all)?\s*\)|`nproc(?: --all)?`|\$\(\s*getconf _NPROCESSORS_ONLN\s*\)")
_SUM = re.compile(r"\$\(\(([^()$]*(?:\([^()$]*\)[^()$]*)*)\)\)")
_OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.floordiv,
}
_MOST_ROUNDS = 5
"""A variable's value may name others."""


def expanded(word: str, variables: Mapping[str, str]) -> str | None:
    """Return what a shell with ``variables`` makes of ``word``; None for what only running it would tell.

    The number of cores is this machine's.

    >>> expanded("--workers=${WORKERS:-3}", {})
    '--workers=3'
    >>> expanded("$(cat workers)", {}) is None
    True
    """
    text = word
    for _ in range(_MOST_ROUNDS):
        text = _CORES.sub(str(len(os.sched_getaffinity(0))), text)
        text, before = _VARIABLE.sub(lambda match: _value(match, variables), text), text
        if text == before:
            break
    text = _SUM.sub(lambda match: _sum(match[1]), text)
    return None if "$" in text or "`" in text else text


def _value(match: re.Match[str], variables: Mapping[str, str]) -> str:
    """Return a variable's value or default; what has neither stays as it is."""
    name = match["braced"] or match["plain"] or match["env"]
    value, how = variables.get(name), match["how"] or ""
    if how.endswith("+"):
        return match["other"] if value else ""
    if value or (value is not None and not how.startswith(":")):
        return value
    return match["other"] if how.endswith(("-", "=")) else match[0]


def _sum(text: str) -> str:
    try:
        return str(_number(ast.parse(text.strip(), mode="eval").body))
    except (SyntaxError, ValueError, ZeroDivisionError):
        return f"$(({text}))"


def _number(node: ast.expr) -> int:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_number(left), _number(right))
    raise ValueError
