"""CPU per request as one bar split by hop, coloured by the hop's role in its stack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from ...base.text import one_line
from .. import figures
from ..paths import split_settings
from .bars import CENTRED, INDENT, SPAN, rules
from .scale import Scale
from .svg import caption, number, tag

__all__ = ["Part", "Role", "parts", "split_bar"]


class Role(StrEnum):
    """What a hop does in its stack; the value is the legend's text, the name the CSS class."""

    FRONT = "front end"
    BETWEEN = "between"
    HOST = "hosts the app"
    BESIDE = "beside the stack"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One hop's share."""

    hop: str
    role: Role
    value: float


def parts(stack: str, costs: Mapping[str, float]) -> tuple[Part, ...]:
    """Return the costs in the order of the stack's path, front end first, what is not in the path last."""
    bare = "".join(part for part, settings in split_settings(stack) if not settings)
    inside = sorted((hop for hop in costs if hop in bare), key=lambda hop: (bare.rindex(hop), len(hop)))
    beside = [hop for hop in costs if hop not in inside]
    hosted = [Part(hop=hop, role=_role(i, len(inside)), value=costs[hop]) for i, hop in enumerate(inside)]
    return (*hosted, *(Part(hop=hop, role=Role.BESIDE, value=costs[hop]) for hop in beside))


def split_bar(split: tuple[Part, ...], scale: Scale, stack: str) -> str:
    """Return the bar; its title names every hop with its cost."""
    costs = ", ".join(f"{one_line(part.hop)} {figures.number(part.value)} ms" for part in split)
    drawn = [caption(f"{stack}: {costs}"), rules(scale)]
    start = 0.0
    for part in split:
        left, right = scale.at(start), scale.at(start + part.value)
        drawn.append(
            tag(
                "rect",
                x=f"{number(INDENT + SPAN * left)}%",
                y="50%",
                width=f"{number(SPAN * (right - left))}%",
                height=14,
                transform=CENTRED,
                class_=f"part {part.role.name.lower()}",
            )
        )
        start += part.value
    return tag("svg", *drawn, class_="cell", role="img", width="100%", height="100%")


def _role(place: int, hops: int) -> Role:
    if place == hops - 1:
        return Role.HOST
    return Role.FRONT if place == 0 else Role.BETWEEN
