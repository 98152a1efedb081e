"""EVIDENCE.md: the race behind an exported stack in its own words, and the proof of its files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...race.results.race import Race
from ...race.results.standing import Row, Standing
from ...report.exporter import STANDING, Format, written
from ...report.markdown import code, escape
from ...report.words.standing import words_of
from . import words
from .equivalence import Proof

__all__ = ["evidence"]


def evidence(
    stack: str,
    *,
    race: Race | None,
    standing: Standing | None,
    limits: str = "",
    changes: Sequence[str] = (),
    proof: Proof | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Return the document for ``stack``; without a ``race`` it says that nothing was measured.

    ``limits`` is what ``words.limits`` says of the front, ``changes`` are what had to be changed in configuration
    files of the user's, ``notes`` what else to know.
    """
    lines = [f"# Why {code(stack)}", ""]
    if race is None or standing is None:
        lines += [words.UNMEASURED]
    else:
        lines += [*_answer(stack, race, standing)]
    lines += ["", "## Whether these files do the same", ""]
    lines += [words.NOT_PROVEN] if proof is None else [f"- {text}" for text in words.proof(proof)]
    lines += ["", "## What differs from the race", ""]
    lines += [
        f"- {text}" for text in (*words.DIFFERENCES, *([escape(limits)] if limits else []), *map(escape, changes))
    ]
    if notes:
        lines += ["", "## Notes", "", *(f"- {escape(note)}" for note in notes)]
    if race is not None and standing is not None:
        lines += ["", "## The race", "", written(STANDING, (race, standing), Format.MARKDOWN)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _answer(stack: str, race: Race, standing: Standing) -> Iterator[str]:
    yield f"**{escape(words_of(race, standing).answer)}**"
    yield ""
    if (row := _row(stack, standing)) is not None and standing.verdict.valid:
        yield f"- {escape(words.place(row, standing))}"
    yield f"- {escape(words.measured(race))}"
    facts = next((facts for facts in race.facts if facts.stack == stack), None)
    if facts is not None and facts.versions:
        versions = ", ".join(f"{name} {version}" for name, version in facts.versions.items() if version)
        yield f"- Measured versions: {escape(versions)}."


def _row(stack: str, standing: Standing) -> Row | None:
    if not standing.levels:
        return None
    rows = standing.levels[standing.headline].rows
    return next((row for row in rows if row.stack == stack), None)
