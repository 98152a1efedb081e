"""A rerun as a page: each claim's ratio with limits on a logarithmic axis, and the published one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from markupsafe import Markup

from ...report.charts.bars import axis, percent, rules
from ...report.charts.svg import Scale, caption, logarithmic, tag
from ...report.html.page import draw_page
from . import words
from .model import Kind
from .rerun import ClaimOutcome, Rerun, Ruling


def page(rerun: Rerun) -> str:
    """Return the whole page."""
    by_part = groupby(rerun.claims, lambda outcome: outcome.claim.part)
    return draw_page(
        "comparison.html.j2", Path(__file__).parent,
        rerun=rerun, comparison=rerun.comparison, words=words, classes=_CLASSES, zip=zip,
        parts=[(rerun.comparison.part(key).title, *_drawn(list(outcomes))) for key, outcomes in by_part],
        gone=[technique for technique in rerun.comparison.techniques.values() if technique.gone],
        command=words.command(rerun),
    )  # fmt: skip


def _drawn(outcomes: Sequence[ClaimOutcome]) -> tuple[list[tuple[ClaimOutcome, Markup]], Markup]:
    """Return a part's claims, each with its drawing, and the axis that they share."""
    scale = _claims_scale(outcomes)
    return [(outcome, Markup(_claim_drawing(outcome, scale))) for outcome in outcomes], Markup(axis(scale, "×"))


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
    Ruling.NOT_MEASURED: "missing",
}
"""How each ruling is drawn: the classes of the style sheet."""


def _claims_scale(outcomes: Iterable[ClaimOutcome]) -> Scale:
    """Return an axis for all ratios, then and now, that holds one and half and twice as much at least."""
    values = [0.5, 2.0]
    for outcome in outcomes:
        values += [outcome.claim.ratio] if outcome.claim.ratio is not None else []
        if outcome.now is not None:
            value = outcome.now.value
            low, high = outcome.now.low or value, outcome.now.high or value
            values += [value, max(low, value / _FARTHEST), min(high, value * _FARTHEST)]
    return logarithmic(min(values) / _ROOM, max(values) * _ROOM)


def _claim_drawing(outcome: ClaimOutcome, scale: Scale) -> str:
    """Return one row: the claimed side shaded, our interval, and the published ratio as a diamond."""
    parts = [caption(_caption(outcome)), _claimed_side(outcome, scale), rules(scale)]
    x = percent(scale, 1.0)
    parts.append(tag("line", x1=x, x2=x, y1="0", y2="100%", class_="zero"))
    if outcome.now is not None:
        style = _CLASSES[outcome.ruling]
        if outcome.now.low is not None and outcome.now.high is not None:
            left, right = percent(scale, outcome.now.low), percent(scale, outcome.now.high)
            parts.append(tag("line", x1=left, x2=right, y1="50%", y2="50%", class_=f"limits {style}"))
        parts.append(tag("circle", cx=percent(scale, outcome.now.value), cy="50%", r=5, class_=f"ours {style}"))
    if outcome.claim.ratio is not None:
        parts.append(_diamond(percent(scale, outcome.claim.ratio)))
    return tag("svg", *parts, class_="cell", role="img", width="100%", height="100%")


def _diamond(x: str) -> str:
    """A square turned by an eighth around its middle; nested, since transforms know no per cent."""
    shape = tag("rect", x=-4.5, y=-4.5, width=9, height=9, transform="rotate(45)", class_="published")
    return tag("svg", shape, x=x, y="50%", overflow="visible")


def _claimed_side(outcome: ClaimOutcome, scale: Scale) -> str:
    """Shade where the ratio would have to lie for the claim to hold; nothing for claims of failing."""
    edges = {
        Kind.MORE: (1.0, scale.high),
        Kind.LESS: (scale.low, 1.0),
        Kind.NO_MORE: (scale.low, 1 + outcome.difference),
        Kind.SAME: (1 / (1 + outcome.difference), 1 + outcome.difference),
    }
    if outcome.claim.kind not in edges:
        return ""
    low, high = edges[outcome.claim.kind]
    left, width = scale.at(low), scale.at(high) - scale.at(low)
    return tag("rect", x=f"{100 * left:.2f}%", width=f"{100 * width:.2f}%", y="12%", height="76%", class_="claimed")


def _caption(outcome: ClaimOutcome) -> str:
    now = words.now(outcome) or "nothing"
    claim = outcome.claim
    return f"{claim.says}, {words.where(claim)}: then {words.then(claim)}, now {now}; {outcome.ruling.value}"
