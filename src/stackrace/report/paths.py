"""How stack paths are broken, only where a reader would pause, and what stacks are called for short."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from ..base.text import one_line
from ..race.results.answer import Answer
from ..race.results.race import Race
from ..race.results.standing import Costs, Standing
from ..stacks.stack import Protocol

_PIECE = re.compile(r"[^/+,:]*[/+,:]?")
_SETTINGS = re.compile(f"(:(?:[^/+]|/(?!(?:{'|'.join(Protocol)})/))*)")


def _pieces(path: str) -> tuple[str, ...]:
    """Return ``path`` cut after each separator: ``('nginx/', 'http/', 'gunicorn:', 'workers=4')``."""
    return tuple(piece for piece in _PIECE.findall(one_line(path)) if piece)


def split_settings(path: str) -> tuple[tuple[str, bool], ...]:
    """Return ``path`` in parts, each with whether it is a settings part (``:workers=4``)."""
    return tuple((part, part.startswith(":")) for part in _SETTINGS.split(one_line(path)) if part)


def fold(path: str, width: int) -> str:
    """Return ``path`` on as many lines as ``width`` asks for, broken after separators, continued indented.

    >>> print(fold('nginx/http/gunicorn:workers=4,preload=on', 22))
    nginx/http/gunicorn:
      workers=4,preload=on
    """
    lines = [""]
    for piece in _pieces(path):
        if len(lines[-1].strip()) and len(lines[-1]) + len(piece) > width:
            lines.append("  ")
        lines[-1] += piece
    return "\n".join(line if len(line) <= width else line[: max(1, width - 1)] + "…" for line in lines)


_YOURS = "your deployment"
"""What the project runs today."""

_LONG = 20
"""A longer path is named without its settings, where that is no other's name."""


def short_names(race: Race) -> dict[str, str]:
    """Return the names of the stacks that have a shorter one, by path."""
    bare = {path: "".join(part for part, is_settings in split_settings(path) if not is_settings)
            for path in race.stacks}  # fmt: skip
    times = Counter(bare.values())
    names = {path: name for path, name in bare.items() if len(path) > _LONG and times[name] == 1}
    return names | ({race.current: _YOURS} if race.current else {})


def renamed(race: Race, standing: Standing, names: Mapping[str, str]) -> tuple[Race, Standing]:
    """Return what sentences are made of with ``names`` for paths; the current deployment's own path stays."""

    def name(path: str) -> str:
        return names.get(path, path)

    def all_of(paths: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(name, paths))

    levels = tuple(
        replace(level, rows=tuple(replace(row, stack=name(row.stack)) for row in level.rows))
        for level in standing.levels
    )
    current = standing.current
    return (
        replace(
            race,
            stacks=all_of(race.stacks),
            limits={workload: all_of(stacks) for workload, stacks in race.limits.items()},
        ),
        replace(
            standing,
            answer=_answer(standing.answer, names),
            levels=levels,
            leads=tuple(replace(lead, stacks=all_of(lead.stacks)) for lead in standing.leads),
            costs=None if standing.costs is None else _costs(standing.costs, names),
            withdrawals=tuple(replace(one, stack=name(one.stack)) for one in standing.withdrawals),
            current=None if current is None else current.renamed(name),
        ),
    )


def _answer(answer: Answer, names: Mapping[str, str]) -> Answer:
    return replace(
        answer,
        stacks=tuple(names.get(path, path) for path in answer.stacks),
        rivals=tuple(names.get(path, path) for path in answer.rivals),
        next_best=names.get(answer.next_best, answer.next_best),
    )


def _costs(costs: Costs, names: Mapping[str, str]) -> Costs:
    first, second, cheaper = (
        None if need is None else replace(need, stack=names.get(need.stack, need.stack))
        for need in (costs.first, costs.second, costs.cheaper)
    )
    assert first is not None and second is not None
    return replace(costs, first=first, second=second, cheaper=cheaper)
