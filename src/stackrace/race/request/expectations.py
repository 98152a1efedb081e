"""``check`` in a race file and ``--check``: rules for right answers, for a whole workload or by path."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from ...base.errors import InputError
from ...measure.workload import EVERY_PATH, Likeness, RightAnswer, RightAnswers

_PLAIN = (Likeness.STATUS.value, Likeness.LENGTH.value, Likeness.EXACT.value)
_RULES = 'write "status", "length", "exact" or { contains = "text" }'
_FLAG = "status, length, exact or contains:TEXT"
_CONTAINS = f"{Likeness.CONTAINS}:"


def read_check(value: object) -> RightAnswers:
    """Return the rules in the key ``check``: one rule, or a table by path. Raises ValueError naming the way out.

    >>> sorted(read_check({"/news/": "status", "*": {"contains": "</html>"}}))
    ['*', '/news/']
    """
    if not isinstance(value, dict) or set(value) == {Likeness.CONTAINS.value}:
        return {EVERY_PATH: _rule(value)}
    if not value:
        raise ValueError(f"is empty; {_RULES}, or a table of these by path")
    for path in value:
        if not isinstance(path, str) or not (path == EVERY_PATH or path.startswith("/")):
            raise ValueError(f'{path!r} is no path; {_RULES}, or by path {{ "/news/" = "status", "*" = "length" }}')
    return {path: _rule(rule, path) for path, rule in value.items()}


def read_check_flags(texts: Iterable[str]) -> RightAnswers:
    """Return the rules in ``--check`` flags: ``RULE`` for all paths, ``PATH RULE`` for one.

    Raises InputError if a text is in neither form, or if a path has two rules.
    """
    rules: dict[str, RightAnswer] = {}
    for text in texts:
        path, rule = _flag(text)
        if path in rules:
            whose = "all paths" if path == EVERY_PATH else path
            raise InputError(f"--check {text!r} is a second rule for {whose}; give one")
        rules[path] = rule
    return rules


def check_flags(rules: RightAnswers) -> tuple[str, ...]:
    """Return the flags that ``read_check_flags`` reads as ``rules``.

    >>> check_flags(read_check_flags(["/news/ status", "contains:</html>"]))
    ('/news/ status', 'contains:</html>')
    """
    return tuple(
        ("" if path == EVERY_PATH else f"{path} ")
        + (f"{_CONTAINS}{rule.text}" if rule.text else rule.likeness.value)
        for path, rule in rules.items()
    )


def _flag(text: str) -> tuple[str, RightAnswer]:
    """Return the path and the rule of a flag; the first blank ends the path."""
    path, blank, rule = text.partition(" ") if text.startswith("/") else (EVERY_PATH, " ", text)
    if blank and rule in _PLAIN:
        return path, RightAnswer(likeness=Likeness(rule))
    if blank and rule.startswith(_CONTAINS) and rule != _CONTAINS:
        return path, RightAnswer(likeness=Likeness.CONTAINS, text=rule.removeprefix(_CONTAINS))
    raise InputError(f"--check {text!r} is no check; write {_FLAG}, for one path '/news/ status'")


def _rule(value: object, path: str = "") -> RightAnswer:
    where = f"{path} = " if path else ""
    if isinstance(value, str) and value in _PLAIN:
        return RightAnswer(likeness=Likeness(value))
    text = value.get(Likeness.CONTAINS.value) if isinstance(value, Mapping) else None
    if isinstance(text, str) and text and isinstance(value, Mapping) and len(value) == 1:
        return RightAnswer(likeness=Likeness.CONTAINS, text=text)
    raise ValueError(f"{where}{json.dumps(value, default=str)} is no check; {_RULES}")
