"""The subject of an export: a stack, its app, and the race that measured it, if there is one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from shlex import quote
from typing import TYPE_CHECKING

from ...api.one_stack import of_one_stack
from ...api.resuming import request_from
from ...base.errors import InputError, StoreError
from ...cli.options import race_file_and_rest, requested
from ...cli.request_flags import RequestFlags
from ...cli.showing import meant
from ...race.request.request import RaceRequest
from ...race.results.race import Race
from ...race.results.standing import Standing
from ...report.merged_standing import standing_of
from ...stacks.servers import catalogue
from ...store import open_store
from ...store.race_lock import is_racing, made_here

if TYPE_CHECKING:
    from ...store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One stack to export."""

    request: RaceRequest
    """Request that sets its app up, with this stack alone."""
    race: Race | None = None
    """The race that measured it; None if none did."""
    standing: Standing | None = None
    notes: tuple[str, ...] = ()
    """Notes for the user, one sentence each."""


def subject_of(words: Sequence[str], flags: RequestFlags, store_url: str | None) -> Subject:
    """Return the subject named on the command line: a race, a stack, both, or neither; raises InputError."""
    race_file, others = race_file_and_rest(words)
    here = flags.over(requested(race_file, flags.given.get("servers")))
    stacks = [word for word in others if _is_stack(word, here)]
    races = [word for word in others if word not in stacks]
    if len(stacks) > 1 or len(races) > 1 or (races and race_file):
        given = [*others, *([str(race_file)] if race_file else [])]
        raise InputError(f"give one race and one stack at most, not {' and '.join(given)}")
    stack = stacks[0] if stacks else None
    if race_file is not None and stack is None:
        if len(here.stacks or ()) != 1:
            raise InputError(f"which stack of {race_file}? Give one: stackrace export {race_file} STACK --to DIR")
        (stack,) = here.stacks or ()
    with open_store(store_url) as store:
        if stack is not None and not races:
            return _of_path(stack, here, store)
        race = store.load(meant(races[0] if races else None, store))
        request, notes = _request_of(race, here, store)
    return _of_race(race, stack, flags.over(request), notes)


def _is_stack(word: str, request: RaceRequest) -> bool:
    known = catalogue().extended(request.servers).specs
    return "/" in word or ":" in word or word.partition("+")[0] in known


def _request_of(race: Race, here: RaceRequest, store: Store) -> tuple[RaceRequest, tuple[str, ...]]:
    """Return the request of ``race`` if it was made here; otherwise ``here`` and a note that says so.

    Raises StoreError for a race that is running at this moment.
    """
    why, what_then = "was not made by this user on this machine", ": compare it with the race's."
    if is_racing(race.id):
        raise StoreError(f"race {race.id} is going on at this moment; wait for its end")
    if made_here(race.id):
        why = "is stored without its request, as a check is"
        if (checkpoint := store.checkpoint(race.id)) is not None:
            with suppress(ValueError):
                return request_from(checkpoint.request), ()
            why, what_then = f"was made by Stackrace {race.version}, whose requests cannot be read any more", "."
    return here, (f"Race {race.id} {why}, so the app is the one in {here.folder}{what_then}",)


def _of_race(race: Race, stack: str | None, request: RaceRequest, notes: tuple[str, ...] = ()) -> Subject:
    """Return the stack ``stack`` of ``race``, by default its winner.

    Raises InputError if the race names no winner; a stack that it did not race is exported without evidence.
    """
    standing = standing_of(race)
    chosen = stack or _winner(race, standing)
    if stack is None and not standing.settled:
        notes = (*notes, f"Race {race.id} names no winner yet; {chosen} leads.")
    alone = of_one_stack(replace(request, stacks=None), chosen)
    if chosen in race.stacks:
        return Subject(request=alone, race=race, standing=standing, notes=notes)
    return Subject(
        request=alone, notes=(*notes, f"Race {race.id} did not race {stack}, so it says nothing about it.")
    )


def _of_path(stack: str, request: RaceRequest, store: Store) -> Subject:
    """Return the stack at a path, with the last race if it raced this stack with the same app."""
    latest = store.latest()
    if latest is not None and made_here(latest) and not is_racing(latest):
        race = store.load(latest)
        raced, _ = _request_of(race, request, store)
        if stack in race.stacks and _have_same_app(raced, request):
            return _of_race(race, stack, raced)
    return Subject(request=of_one_stack(replace(request, stacks=None), stack))


def _have_same_app(raced: RaceRequest, request: RaceRequest) -> bool:
    if raced.folder.resolve() != request.folder.resolve():
        return False
    is_unsaid = request.source is None and request.entry is None
    return is_unsaid or (raced.entry, raced.bundled) == (request.entry, request.bundled)


def _winner(race: Race, standing: Standing) -> str:
    lacks = "is void" if not standing.verdict.valid else "" if standing.answer.stacks else "measured nothing"
    if lacks:
        command = f"stackrace export {race.id} {quote(race.stacks[0])} --to deploy"
        raise InputError(
            f"race {race.id} {lacks}, so it has no winner; name one of {', '.join(race.stacks)}, as in: {command}"
        )
    return standing.answer.stacks[0]
