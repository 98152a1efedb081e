"""One JSON document about a race that tunes; ``stackrace tune --schema`` prints what its members mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ....base.codec import Form, readable
from ....base.text import printable
from ....race.results.race import Ending, Race
from ..model import Tuning, tuning_of
from ..result import Tuned
from . import words


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneWords:
    """The answer and its reasons in sentences."""

    answer: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneDocument:
    """What a tuning race found, as `stackrace tune --json` prints it.

    Times are seconds, sizes bytes; what is not known is null.
    """

    schema: Literal["tune-1"] = "tune-1"
    """Name and version of this format."""
    race: str
    """The race's id."""
    app: str
    """The app's name."""
    ending: Ending | None
    """Why the race ended; null while it runs."""
    elapsed_s: float
    """Its time, in seconds."""
    launches: int
    """Launches made."""
    difference: float
    """The difference that does not matter, 0.05 for 5 %."""
    cores: tuple[int, ...]
    """The cores that each configuration could use."""
    seed: int
    """The seed of everything that was shuffled or proposed."""
    asked: Tuning | None
    """What was looked for."""
    found: Tuned
    """The answer."""
    race_file: str | None
    """The line of a race file that races the tuned stack; null without one."""
    words: TuneWords
    notes: tuple[str, ...]
    """Sentences to be read with the result."""


_FORM = Form(text=printable)


def schema() -> str:
    """Return the JSON Schema of ``document``."""
    from ....base.json_schema import json_schema

    return json_schema(TuneDocument, _FORM, "tune-1")


def document(race: Race, found: Tuned) -> dict[str, Any]:
    """Return the document as plain JSON values."""
    return readable(
        TuneDocument(
            race=race.id,
            app=race.app,
            ending=race.ending,
            elapsed_s=race.elapsed_s,
            launches=sum(not launch.cut_short for launch in race.launches),
            difference=race.difference,
            cores=race.cores.stack_cores,
            seed=race.seed,
            asked=tuning_of(race),
            found=found,
            race_file=words.race_file_line(found.stack) if found.stack else None,
            words=TuneWords(answer=words.answer(race, found), reasons=tuple(words.reasons(race, found))),
            notes=race.notes,
        ),
        _FORM,
    )
