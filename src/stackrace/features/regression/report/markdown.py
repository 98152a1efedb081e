"""A check as Markdown, for a step summary or a comment on a pull request."""

from __future__ import annotations

from ....race.results.race import Race
from ....report.markdown import drawn
from ....report.markdown_text import escape
from ..model import GateAnswer, Outcome
from .sheet import gate_sheet

__all__ = ["export"]

_SIGNS = {Outcome.PASSED: "✅", Outcome.FAILED: "❌", Outcome.UNDECIDED: "❔", Outcome.REFUSED: "⚠️"}


def export(race: Race, result: GateAnswer) -> str:
    """Return the document, its first line a heading that tells the outcome."""
    title = f"### {_SIGNS[result.outcome]} Stackrace check of {escape(race.app)}: {result.outcome.value}"
    return f"{title}\n\n{drawn(gate_sheet(race, result), heading='####')}"
