"""The page of a race that tunes: one file, without scripts."""

from __future__ import annotations

import shlex
from functools import cache, partial
from pathlib import Path

from jinja2 import Environment

from ....race.results.race import Race
from ....report.html import marks
from ....report.html.templates import FOLDER, environment
from ....report.sheet import Medium, Tone, shown
from ..model import Tuned, tuning_of
from . import words
from .picture import Facet, facets, response_chart
from .sheet import race_file_line, tuning_sheet

__all__ = ["page"]

_HERE = Path(__file__).parent
_HTML = FOLDER


def page(race: Race, found: Tuned) -> str:
    """Return the whole page; all foreign text is escaped."""
    panels = [(one.title, _drawn(one)) for one in facets(tuning_of(race), found)] if found.responses else []
    # the answer is the page's heading
    _, *sections = shown(tuning_sheet(race, found), Medium.PAGE)
    return (
        _templates()
        .get_template("tuning.html.j2")
        .render(
            race=race,
            answer=words.answer(race, found),
            about=words.ending(race, found),
            sections=sections,
            panels=[(title, drawing) for title, drawing in panels if drawing],
            response=words.response_title(tuning_of(race).goal),
            path=found.stack,
            command=shlex.join(["stackrace", "run", "--stack", found.stack]),
            race_file=race_file_line(found.stack) if found.stack else "",
            sentence=partial(marks.sentence, stacks=(*tuning_of(race).settings, *race.stacks)),
            style=(_HTML / "style.css").read_text(encoding="utf-8"),
        )
    )


def _drawn(panel: Facet) -> str:
    about = "Compared with the tuned stack, which is 1; above 1 is better."
    return response_chart(panel, panel.title or "the response", about)


@cache
def _templates() -> Environment:
    templates = environment(_HERE, _HTML)
    templates.globals.update(Tone=Tone, on_page=Medium.PAGE)
    return templates
