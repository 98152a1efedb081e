"""Then and now as a picture: each claim's ratio with limits on a logarithmic axis, and the published one."""

from __future__ import annotations

from collections.abc import Iterable

from ...model.comparison import ClaimOutcome, Kind, Ruling
from ..charts.bars import percent, rules
from ..charts.scale import Scale, logarithmic
from ..charts.svg import caption, tag
from ..words import rerun as words

__all__ = ["claim_drawing", "claims_scale"]

_ROOM = 1.15
"""How far the axis reaches beyond the outermost ratio; limits may lie beyond it and are cut there."""

_FARTHEST = 30.0
"""An interval never stretches the axis beyond this multiple of its own value."""

_CLASSES = {
    Ruling.HOLDS: "holds",
    Ruling.REVERSED: "reversed",
    Ruling.NOT_SO: "reversed",
    Ruling.SAME: "same",
    Ruling.UNDECIDED: "undecided",
}


def claims_scale(outcomes: Iterable[ClaimOutcome]) -> Scale:
    """Return an axis for all ratios, then and now, that holds one and half and twice as much at least."""
    values = [0.5, 2.0]
    for one in outcomes:
        values += [one.claim.ratio] if one.claim.ratio is not None else []
        if one.now is not None:
            value = one.now.value
            low, high = one.now.low or value, one.now.high or value
            values += [value, max(low, value / _FARTHEST), min(high, value * _FARTHEST)]
    return logarithmic(min(values) / _ROOM, max(values) * _ROOM)


def claim_drawing(one: ClaimOutcome, scale: Scale) -> str:
    """Return one row: the claimed side shaded, our interval, and the published ratio as a diamond."""
    parts = [caption(_told(one)), _claimed_side(one, scale), rules(scale)]
    x = percent(scale, 1.0)
    parts.append(tag("line", x1=x, x2=x, y1="0", y2="100%", class_="zero"))
    if one.now is not None:
        style = _CLASSES.get(one.ruling, "undecided")
        if one.now.low is not None and one.now.high is not None:
            left, right = percent(scale, one.now.low), percent(scale, one.now.high)
            parts.append(tag("line", x1=left, x2=right, y1="50%", y2="50%", class_=f"limits {style}"))
        parts.append(tag("circle", cx=percent(scale, one.now.value), cy="50%", r=5, class_=f"ours {style}"))
    if one.claim.ratio is not None:
        parts.append(_diamond(percent(scale, one.claim.ratio)))
    return tag("svg", *parts, class_="cell", role="img", width="100%", height="100%")


def _diamond(x: str) -> str:
    """A square turned by an eighth around its middle; nested, since transforms know no per cent."""
    shape = tag("rect", x=-4.5, y=-4.5, width=9, height=9, transform="rotate(45)", class_="published")
    return tag("svg", shape, x=x, y="50%", overflow="visible")


def _claimed_side(one: ClaimOutcome, scale: Scale) -> str:
    """Shade where the ratio would have to lie for the claim to hold; nothing for claims of failing."""
    edges = {
        Kind.MORE: (1.0, scale.high),
        Kind.LESS: (scale.low, 1.0),
        Kind.NO_MORE: (scale.low, 1 + one.difference),
        Kind.SAME: (1 / (1 + one.difference), 1 + one.difference),
    }
    if one.claim.kind not in edges:
        return ""
    low, high = edges[one.claim.kind]
    left, width = scale.at(low), scale.at(high) - scale.at(low)
    return tag("rect", x=f"{100 * left:.2f}%", width=f"{100 * width:.2f}%", y="12%", height="76%", class_="claimed")


def _told(one: ClaimOutcome) -> str:
    found = words.now(one) or "nothing"
    return (
        f"{one.claim.says}, {words.where(one.claim)}: then {words.then(one.claim)}, now {found}; {one.ruling.value}"
    )
