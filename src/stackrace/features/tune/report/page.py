"""The page of a race that tunes: one file, without scripts."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

from ....race.results.race import Race
from ....report.html.page import draw_page
from ....report.sheet import Medium, Section, shown
from ..model import tuning_of
from ..result import Tuned
from . import words
from .picture import Facet, facets, response_chart


def page(race: Race, found: Tuned, sections: Iterable[Section]) -> str:
    """Return the whole page; the first of the report's ``sections`` has the answer, which is its heading."""
    tuning = tuning_of(race)
    panels = [(one.title, _drawn(one)) for one in facets(tuning, found)] if found.responses else []
    _, *others = shown(sections, Medium.PAGE)
    return draw_page(
        "tuning.html.j2", Path(__file__).parent, stacks=(*tuning.settings, *race.stacks),
        race=race, answer=words.answer(race, found), about=words.ending(race, found), sections=others,
        panels=[(title, drawing) for title, drawing in panels if drawing],
        response=words.response_title(tuning.goal),
        path=found.stack, command=shlex.join(["stackrace", "run", "--stack", found.stack]),
        race_file=words.race_file_line(found.stack) if found.stack else "",
    )  # fmt: skip


def _drawn(panel: Facet) -> str:
    about = "Compared with the tuned stack, which is 1; above 1 is better."
    return response_chart(panel, panel.title or "the response", about)
