"""A check as one self-contained page, in the style of the races' own."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from ....base.text import tail
from ....race.results.race import Race
from ....report.complaints import complaints
from ....report.html.templates import FOLDER, environment
from ....report.result import standing_of
from ....report.setbacks import setbacks
from ..model import GateAnswer, Outcome, gate_of
from . import words
from .chart import axis_drawing, reach_of, ruling_drawing

__all__ = ["export"]

HERE = Path(__file__).parent
STYLES = (FOLDER / "style.css", HERE / "style.css")
LOG_LINES = 40


def export(race: Race, result: GateAnswer) -> str:
    """Return the whole page; all foreign text is escaped."""
    reach = reach_of(result.rulings)
    standing = standing_of(race)
    return _templates().get_template("check.html.j2").render(
        race=race, result=result, answer=words.answer(race, result),
        bad=result.outcome in (Outcome.FAILED, Outcome.REFUSED),
        sides=words.side_notes(gate_of(race)), details=words.details(race, result),
        rows=[(each, words.cells(each), Markup(ruling_drawing(each, reach))) for each in result.rulings],
        axis=Markup(axis_drawing(reach)), header=words.HEADER,
        setbacks=setbacks(race, standing), complaints=complaints(race, standing),
        style="\n".join(path.read_text(encoding="utf-8") for path in STYLES),
    )  # fmt: skip


@cache
def _templates() -> Environment:
    templates = environment(HERE)
    templates.filters.update(log=lambda text: "\n".join(tail(text, LOG_LINES)))
    return templates
