"""A published comparison raced again, part by part."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ...base import ids
from ...base.errors import InterruptedRace, MissingError, StackraceError
from ...race.preparation.choosing import ready_stack
from ...race.preparation.needs import distinct, lacks_of, refusal
from ...race.request.race_file import read_race_file
from ...race.request.request import RaceRequest
from ...race.results.race import Ending, Race
from ...race.rounds import OpenCells
from ...report.result import standing_of
from ...report.troubles import complaints
from ...report.words.standing import words_of
from ...stacks.servers import catalogue
from ...store.address import data_folder
from .judging import judged
from .kept import Kept, keep, latest
from .model import Comparison, Part
from .reading import read_comparison
from .requesting import PartRequest, part_request
from .rerun import Mode, PartOutcome, Rerun
from .stopping import still_open

if TYPE_CHECKING:
    from ...store.store import Store

__all__ = ["FinishedRerun", "RerunOptions", "lack_of_comparison", "last_rerun", "race_again"]

RacePart = Callable[[RaceRequest, OpenCells | None], Race]
"""Races one part and keeps it."""

OnPart = Callable[[Part, tuple[str, ...]], None]
"""Hears which part begins, and what is left out of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RerunOptions:
    """What is asked of the whole comparison."""

    mode: Mode
    budget_s: float | None = None
    """Of each part; quick reruns only."""
    seed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRerun:
    """A comparison raced again."""

    rerun: Rerun
    """The rulings."""
    races: Mapping[str, Race]
    """By the key of their part."""
    interrupted: bool
    """Whether the user stopped it."""


def race_again(
    name: str, options: RerunOptions, race_part: RacePart, on_part: OnPart, on_lack: Callable[[str], None]
) -> FinishedRerun:
    """Race the comparison ``name`` again, and keep what it is made of where any part could be raced.

    A part that cannot run here has its reason among the outcomes, and the others go on. Raises MissingError, before
    anything is raced, where every part lacks something; where only some do, ``on_lack`` hears the same sentence.
    """
    comparison = read_comparison(name)
    wanted = {part.key: _wanted(comparison, part, options) for part in comparison.parts}
    if (lack := lack_of_comparison(comparison)) is not None:
        if all(isinstance(part, MissingError) for part in wanted.values()):
            raise lack
        on_lack(lack.message)
    races, parts, interrupted = _parts(comparison, wanted, options, race_part, on_part)
    kept = Kept(
        id=ids.generate(),
        name=name,
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        mode=options.mode,
        parts=parts,
    )
    if races:
        keep(kept, _folder())
    return FinishedRerun(rerun=_rerun(comparison, kept, races, parts), races=races, interrupted=interrupted)


def last_rerun(name: str, store: Store) -> Rerun:
    """Return the last rerun of the comparison ``name``, judged anew from its races in ``store``."""
    comparison = read_comparison(name)
    kept = latest(name, _folder())
    races = {outcome.part: store.load(outcome.race) for outcome in kept.parts if outcome.race is not None}
    parts = tuple(
        _outcome(races[outcome.part], outcome.part, outcome.left_out) if outcome.race else outcome
        for outcome in kept.parts
    )
    return _rerun(comparison, kept, races, parts)


def _rerun(comparison: Comparison, kept: Kept, races: Mapping[str, Race], parts: tuple[PartOutcome, ...]) -> Rerun:
    return judged(comparison, races, parts, id=kept.id, made_at=kept.made_at, mode=kept.mode)


def _parts(
    comparison: Comparison,
    wanted: Mapping[str, PartRequest | StackraceError],
    options: RerunOptions,
    race_part: RacePart,
    on_part: OnPart,
) -> tuple[dict[str, Race], tuple[PartOutcome, ...], bool]:
    """Race part after part; tells, too, whether the user stopped it."""
    races: dict[str, Race] = {}
    outcomes: list[PartOutcome] = []
    for part in comparison.parts:
        planned = wanted[part.key]
        if isinstance(planned, StackraceError):
            on_part(part, ())
            outcomes.append(PartOutcome(part=part.key, trouble=_trouble(planned)))
            continue
        on_part(part, planned.left_out)
        try:
            race = race_part(planned.request, still_open(comparison, part) if options.mode is Mode.QUICK else None)
        except (KeyboardInterrupt, InterruptedRace):
            return races, (*outcomes, *_not_reached(comparison, len(outcomes))), True
        except StackraceError as error:
            outcomes.append(PartOutcome(part=part.key, trouble=_trouble(error)))
            continue
        races[part.key] = race
        outcomes.append(_outcome(race, part.key, planned.left_out))
        if race.ending is Ending.INTERRUPTED:
            return races, (*outcomes, *_not_reached(comparison, len(outcomes))), True
    return races, tuple(outcomes), False


def _wanted(comparison: Comparison, part: Part, options: RerunOptions) -> PartRequest | StackraceError:
    """Return what a part asks to be raced, or why nothing of it can be."""
    try:
        wanted = part_request(comparison, part, options.mode, ready_stack)
        if lacks := lacks_of(wanted.request, catalogue()):
            raise MissingError(f"it lacks {', '.join(lack.words for lack in lacks)}")
    except StackraceError as error:
        return error
    request = wanted.request
    return replace(
        wanted,
        request=replace(
            request,
            budget_s=request.budget_s if options.budget_s is None else options.budget_s,
            seed=request.seed if options.seed is None else options.seed,
        ),
    )


def lack_of_comparison(comparison: Comparison) -> MissingError | None:
    """Return what the parts of ``comparison`` lack here, with the command that installs it; None for nothing."""
    known = catalogue()
    races = [read_race_file(part.file, lambda path: None) for part in comparison.parts]
    lacks = distinct(lack for race in races for lack in lacks_of(race, known))
    name = f"historic/{comparison.name}"
    can_be_had = any(not lack.elsewhere for lack in lacks)
    return refusal(name, lacks, shlex.join(["stackrace", "install", name]) if can_be_had else "") if lacks else None


def _not_reached(comparison: Comparison, done: int) -> tuple[PartOutcome, ...]:
    return tuple(PartOutcome(part=part.key, trouble="it was interrupted") for part in comparison.parts[done:])


def _trouble(error: StackraceError) -> str:
    first = error.detail.strip().splitlines()
    return f"{error.message} ({first[-1].strip()})" if first else error.message


def _outcome(race: Race, part: str, left_out: tuple[str, ...]) -> PartOutcome:
    standing = standing_of(race)
    return PartOutcome(
        part=part,
        race=race.id,
        answer=words_of(race, standing).answer,
        elapsed_s=race.elapsed_s,
        difference=race.difference,
        left_out=left_out,
        complaints=tuple(
            f"{complaint.headline}, {complaint.check}: {complaint.seen}."
            for complaint in complaints(race, standing)
        ),
    )


def _folder() -> Path:
    return data_folder() / "historic"
