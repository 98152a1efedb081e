"""A rerun as one self-contained page, in the style of the races' own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from ....report import figures
from ....report.charts.bars import axis
from ....report.html.templates import FOLDER, environment
from ..rerun import ClaimOutcome, Rerun
from . import words
from .chart import CLASSES, claim_drawing, claims_scale
from .sheet import command

__all__ = ["export"]

_HERE = Path(__file__).parent
_STYLES = (FOLDER / "style.css", _HERE / "style.css")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimView:
    """One row of the picture; ``says`` is empty where the row above says the same."""

    outcome: ClaimOutcome
    says: str
    drawing: Markup


@dataclass(frozen=True, slots=True, kw_only=True)
class PartView:
    """One part's claims with their axis."""

    title: str
    rows: tuple[ClaimView, ...]
    axis: Markup


def export(rerun: Rerun) -> str:
    """Return the whole page; all foreign text is escaped."""
    by_part = groupby(rerun.claims, lambda outcome: outcome.claim.part)
    return _templates().get_template("comparison.html.j2").render(
        rerun=rerun, comparison=rerun.comparison,
        style="\n".join(path.read_text(encoding="utf-8") for path in _STYLES),
        parts=[_part(rerun, key, list(outcomes)) for key, outcomes in by_part],
        gone=[technique for technique in rerun.comparison.techniques.values() if technique.gone],
        command=command(rerun),
    )  # fmt: skip


def _part(rerun: Rerun, key: str, claims: list[ClaimOutcome]) -> PartView:
    scale = claims_scale(claims)
    before = ["", *(outcome.claim.says for outcome in claims)]
    rows = tuple(
        ClaimView(
            outcome=outcome,
            says="" if outcome.claim.says == previous else outcome.claim.says,
            drawing=Markup(claim_drawing(outcome, scale)),
        )
        for outcome, previous in zip(claims, before, strict=False)
    )
    return PartView(title=rerun.comparison.part(key).title, rows=rows, axis=Markup(axis(scale, "×")))


@cache
def _templates() -> Environment:
    templates = environment(_HERE)
    templates.filters.update(
        ratio=lambda value: figures.NOTHING if value is None else figures.number(value),
        kind=lambda ruling: CLASSES[ruling],
    )  # fmt: skip
    templates.globals.update(words=words, list=list, zip=zip)
    return templates
