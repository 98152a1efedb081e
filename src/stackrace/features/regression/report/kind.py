"""A check as a kind of result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ....race.results.comparison import Comparison, Outcome
from ....race.results.race import Race
from ....report.markdown import escape
from ....stacks.stack import without_side
from ..answer import gate_answer
from ..model import Contender, gate_of

if TYPE_CHECKING:
    from ....report.sheet import Section

__all__ = ["compared", "document", "heading", "leading", "page", "sections"]

_SIGNS = {Outcome.PASSED: "✅", Outcome.FAILED: "❌", Outcome.UNDECIDED: "❔", Outcome.REFUSED: "⚠️"}


def sections(race: Race) -> Iterable[Section]:
    """Return the report, in order."""
    from .sheet import gate_sheet

    return gate_sheet(race, gate_answer(race))


def heading(race: Race) -> str:
    """Return a line that tells the outcome."""
    outcome = gate_answer(race).outcome
    return f"### {_SIGNS[outcome]} Stackrace check of {escape(race.app)}: {outcome.value}"


def document(race: Race) -> dict[str, Any]:
    """Return the JSON document as plain values."""
    from .document import document as made

    return made(race, gate_answer(race))


def page(race: Race) -> str:
    """Return the self-contained page."""
    from .html import export

    return export(race, gate_answer(race))


def compared(race: Race) -> Comparison:
    """Return what it says of head against base."""
    from . import words

    facts, answer = gate_of(race), gate_answer(race)
    changes = {ruling.response: words.change(ruling) for ruling in reversed(answer.rulings)}
    return Comparison(
        base=_named(facts.base),
        head=_named(facts.head),
        stack=facts.head.stack or without_side(race.stacks[-1]),
        outcome=answer.outcome,
        rulings=answer.rulings,
        changes=changes,
    )


def _named(side: Contender) -> str:
    if not side.revision:
        return side.label
    commit = side.revision[:7] + "+" * bool(side.changed)
    return side.label if commit in side.label else f"{side.label} {commit}"


def leading(race: Race) -> str:
    """A check has a display of its own while it runs."""
    return ""
