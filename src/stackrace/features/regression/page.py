"""A check as one self-contained page, in the style of the races' own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from ...base.numbers import percent
from ...race.results.comparison import Ruling, State
from ...race.results.race import Race
from ...report.charts.svg import caption, tag, text
from ...report.html.page import draw_page
from ...report.result import standing_of
from ...report.troubles import complaints, setbacks
from . import words
from .answer import gate_answer
from .model import gate_of


def page(race: Race) -> str:
    """Return the whole page of the check ``race``."""
    result = gate_answer(race)
    reach = _reach_of(result.rulings)
    standing = standing_of(race)
    return draw_page(
        "check.html.j2", Path(__file__).parent,
        race=race, result=result, answer=words.answer(race, result),
        bad=result.is_bad,
        sides=words.side_notes(gate_of(race)), details=words.details(race, result),
        rows=[(each, words.cells(each), Markup(_ruling_drawing(each, reach))) for each in result.rulings],
        axis=Markup(_axis_drawing(reach)), header=words.HEADER,
        setbacks=setbacks(race, standing), complaints=complaints(race, standing),
    )  # fmt: skip


_REACHES = (0.04, 0.1, 0.2, 0.4)
"""Limits that lie farther out are cut."""

_CLASSES = {State.CLEAR: "holds", State.SLOWER: "reversed"}
"""Of the style sheet; of all others it is ``undecided``."""


def _reach_of(rulings: Sequence[Ruling]) -> float:
    """Return how far the axis reaches to either side, as a share."""
    known = [
        abs(limit) for each in rulings if each.change for limit in (each.change.low, each.change.high) if limit
    ]
    return next((reach for reach in _REACHES if reach >= max(known, default=0.0)), _REACHES[-1])


def _ruling_drawing(each: Ruling, reach: float) -> str:
    """Return one row: what is allowed shaded, the change with its limits."""
    edge = _at(each.terms.allowance, reach)
    parts = [
        caption(f"{words.name(each)}: {words.change(each)}, allowed {words.allowed(each)}; {words.ruling(each)}"),
        tag("rect", x="0%", width=f"{edge:.2f}%", y="12%", height="76%", class_="claimed"),
        tag("line", x1="50%", x2="50%", y1="0", y2="100%", class_="zero"),
    ]
    if each.change is not None:
        style = _CLASSES.get(each.state, "undecided")
        if each.change.low is not None and each.change.high is not None:
            left, right = (f"{_at(limit, reach):.2f}%" for limit in (each.change.low, each.change.high))
            parts.append(tag("line", x1=left, x2=right, y1="50%", y2="50%", class_=f"limits {style}"))
        middle = f"{_at(each.change.value, reach):.2f}%"
        parts.append(tag("circle", cx=middle, cy="50%", r=5, class_=f"ours {style}"))
    return tag("svg", *parts, class_="cell", role="img", width="100%", height="100%")


def _axis_drawing(reach: float) -> str:
    """Return the axis below all rows."""
    marks = [(0.0, "0"), (reach / 2, f"+{percent(reach / 2)}"), (-reach / 2, f"−{percent(reach / 2)}")]
    labels = [text(label, x=f"{_at(at, reach):.2f}%", y="12", text_anchor="middle") for at, label in marks]
    return tag("svg", *labels, class_="axis", width="100%", height="18")


def _at(share: float, reach: float) -> float:
    """Return where a share of worse lies, in per cent of the width."""
    return 50 * (1 + max(-1.0, min(share / reach, 1.0)))
