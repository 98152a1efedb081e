"""A check as one JSON document; ``stackrace check --schema`` prints what its members mean.

Units are in the names or those of the response: requests per second, seconds, bytes, a share of requests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ....base.codec import LEFT_OUT, Form, readable
from ....base.text import printable
from ....measure.load import Load
from ....race.results.comparison import Outcome, Ruling
from ....race.results.race import Ending, Race
from ..model import Contender, FailedLaunches, GateAnswer, gate_of
from . import words


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckWords:
    """The answer in sentences."""

    answer: str
    rulings: tuple[str, ...]
    """A line for each ruling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRace:
    """The race that a check rests on."""

    id: str
    started_at: str
    """UTC in ISO 8601."""
    stackrace_version: str
    app: str
    """By name."""
    loads: tuple[Load, ...]
    """How requests were sent."""
    urls: tuple[str, ...]
    """What was asked for."""
    budget_s: float
    """The time it might take, in seconds."""
    elapsed_s: float
    """The time it took, in seconds."""
    ending: Ending | None
    """Why it ended."""
    seed: int
    """Of everything that was shuffled."""
    notes: tuple[str, ...]
    """To be read with the result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckDocument:
    """Whether head is slower than base. What is not known is null.

    Changes are shares of worse: 0.05 is 5 % slower, larger or longer, of errors 5 percentage points more.
    """

    format: Literal["stackrace-check"] = "stackrace-check"
    """Tells this document from others."""
    version: Literal[1] = 1
    """Version of the format."""
    outcome: Outcome
    """passed: not slower, see each ruling's change.high for what could have been missed; failed: slower than
    allowed, or its launches fail, confirmed; undecided: neither is shown; refused: no valid measurements."""
    exit_code: int
    """What the command ended with: 0, 1 or 3."""
    words: CheckWords
    base: Contender
    """What the base was."""
    head: Contender
    """What the head was."""
    packages: tuple[str, ...]
    """What differs between the packages that the two lock files name, as "flask 3.1.2 → 3.0.3"."""
    rulings: tuple[Ruling, ...]
    """One for each response."""
    pairs: int
    """Pairs of launches, refused ones included."""
    failed_launches: FailedLaunches
    """How many launches of each side failed. A check with a failed launch of the head does not pass."""
    needed_s: float | None
    """About how many more seconds would probably decide an undecided check."""
    race: CheckedRace


_FORM = Form(names={Load: {"seed": LEFT_OUT}}, text=printable)


def schema() -> str:
    """Return the JSON Schema of ``document``."""
    from ....base.json_schema import json_schema

    return json_schema(CheckDocument, _FORM, "check-1")


def document(race: Race, result: GateAnswer) -> dict[str, Any]:
    """Return the document of the check ``race`` and its answer as plain JSON values."""
    return readable(
        CheckDocument(
            outcome=result.outcome,
            exit_code=result.exit_code,
            words=CheckWords(
                answer=words.answer(race, result),
                rulings=tuple(" ".join(words.cells(each)) for each in result.rulings),
            ),
            base=gate_of(race).base,
            head=gate_of(race).head,
            packages=gate_of(race).packages,
            rulings=result.rulings,
            pairs=result.blocks,
            failed_launches=result.failed,
            needed_s=result.needed_s,
            race=_race(race),
        ),
        _FORM,
    )


def _race(race: Race) -> CheckedRace:
    return CheckedRace(
        id=race.id,
        started_at=race.started_at,
        stackrace_version=race.version,
        app=race.app,
        loads=race.loads,
        urls=race.urls,
        budget_s=race.budget_s,
        elapsed_s=race.elapsed_s,
        ending=race.ending,
        seed=race.seed,
        notes=race.notes,
    )
