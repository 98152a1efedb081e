"""What is exported: a stack, the app that it hosts, and the race that speaks for it, if there is one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...api.one_stack import of_one_stack
from ...base.errors import InputError, StoreError
from ...race.request.document import request_from
from ...race.request.request import RaceRequest
from ...race.results.race import Race
from ...race.results.standing import Standing
from ...report.result import standing_of
from ...store.manifest import has_manifest, is_racing, reopen_manifest

if TYPE_CHECKING:
    from ...store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One stack to export."""

    request: RaceRequest
    """What sets its app up, with this stack alone."""
    stack: str
    """Its path."""
    race: Race | None = None
    """The race that measured it; None where none did."""
    standing: Standing | None = None
    notes: tuple[str, ...] = ()
    """To be known with the result, one sentence each."""


def request_of(race: Race, here: RaceRequest) -> tuple[RaceRequest, tuple[str, ...]]:
    """Return what ``race`` asked for, as its manifest has it; without one, ``here`` and a note that says so.

    Raises StoreError for a race that goes on at this moment.
    """
    if not has_manifest(race.id):
        note = (
            f"Race {race.id} was not made by this user on this machine, so the app is the one in {here.folder}: "
            "compare it with the race's."
        )
        return here, (note,)
    if is_racing(race.id):
        raise StoreError(f"race {race.id} is going on at this moment; wait for its end")
    with reopen_manifest(race.id) as file:
        try:
            return request_from(file.read().opening.request), ()
        except (ValueError, OSError):
            note = (
                f"Race {race.id} was made by Stackrace {race.version}, whose requests cannot be read any more, so "
                f"the app is the one in {here.folder}."
            )
            return here, (note,)


def of_race(race: Race, stack: str | None, request: RaceRequest, notes: tuple[str, ...] = ()) -> Subject:
    """Return the stack ``stack`` of ``race``, by default its winner.

    Raises InputError where the race names no winner; a stack that it did not race is exported without evidence.
    """
    standing = standing_of(race)
    chosen = stack or _winner(race, standing)
    measured = chosen in race.stacks
    if stack is None and not standing.settled:
        notes = (*notes, f"Race {race.id} names no winner yet; {chosen} leads.")
    if stack is not None and not measured:
        notes = (*notes, f"Race {race.id} did not race {stack}, so it says nothing about it.")
    return Subject(
        request=of_one_stack(replace(request, stacks=None), chosen),
        stack=chosen,
        race=race if measured else None,
        standing=standing if measured else None,
        notes=notes,
    )


def of_path(stack: str, request: RaceRequest, store: Store) -> Subject:
    """Return the stack at a path, with the last race of the same folder if that raced it."""
    latest = store.latest()
    if latest is not None and has_manifest(latest) and not is_racing(latest):
        race = store.load(latest)
        raced, _ = request_of(race, request)
        if stack in race.stacks and _same_app(raced, request):
            return of_race(race, stack, raced)
    return Subject(request=of_one_stack(replace(request, stacks=None), stack), stack=stack)


def _same_app(raced: RaceRequest, request: RaceRequest) -> bool:
    def of(asked: RaceRequest) -> tuple[Path, object, object]:
        return asked.folder.resolve(), asked.entry, asked.bundled

    return of(raced) == of(request) or (
        request.source is None and of(raced)[0] == of(request)[0] and request.entry is None
    )


def _winner(race: Race, standing: Standing) -> str:
    if not standing.verdict.valid:
        raise InputError(f"race {race.id} is void, so it has no winner; name a stack: {_among(race)}")
    if not standing.answer.stacks:
        raise InputError(f"race {race.id} measured nothing, so it has no winner; name a stack: {_among(race)}")
    return standing.answer.stacks[0]


def _among(race: Race) -> str:
    return ", ".join(race.stacks)
