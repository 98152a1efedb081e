"""A check as one JSON document; ``stackrace check --schema`` prints what its members mean.

Units are in the names or those of the response: requests per second, seconds, bytes, a share of requests.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

from ...base.codec import FLAT, LEFT_OUT, Form, readable
from ...base.text import printable
from ...measure.load import Load
from ...race.results.race import Race
from . import words
from .answer import gate_answer
from .model import GateAnswer, GateFacts, gate_of


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckWords:
    """The answer in sentences."""

    answer: str
    rulings: tuple[str, ...]
    """A line for each ruling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckDocument:
    """Whether head is slower than base. What is not known is null.

    Changes are shares of worse: 0.05 is 5 % slower, larger or longer, of errors 5 percentage points more.
    """

    format: Literal["stackrace-check"] = "stackrace-check"
    """Tells this document from others."""
    version: Literal[1] = 1
    """Version of the format."""
    result: GateAnswer
    exit_code: int
    """What the command ended with: 0, 1 or 3."""
    words: CheckWords
    facts: GateFacts
    race: Race
    """The race that it rests on."""


_OF_RACE = {
    "id", "started_at", "version", "app", "loads", "urls", "budget_s", "elapsed_s", "ending", "seed", "notes",
}  # fmt: skip

_FORM = Form(
    names={
        CheckDocument: {"result": FLAT, "facts": FLAT},
        GateAnswer: {"blocks": "pairs", "valid": LEFT_OUT, "failed": "failed_launches"},
        GateFacts: {"allowances": LEFT_OUT},
        Race: {
            **dict.fromkeys({each.name for each in fields(Race)} - _OF_RACE, LEFT_OUT),
            "version": "stackrace_version",
        },
        Load: {"seed": LEFT_OUT},
    },
    text=printable,
)


def schema() -> str:
    """Return the JSON Schema of ``document``."""
    from ...base.json_schema import json_schema

    return json_schema(CheckDocument, _FORM, "check-1")


def document(race: Race) -> dict[str, Any]:
    """Return the document of the check ``race`` as plain JSON values."""
    result = gate_answer(race)
    rulings = tuple(" ".join(words.cells(each)) for each in result.rulings)
    made = CheckDocument(
        result=result,
        exit_code=result.exit_code,
        words=CheckWords(answer=words.answer(race, result), rulings=rulings),
        facts=gate_of(race),
        race=race,
    )
    return readable(made, _FORM)
