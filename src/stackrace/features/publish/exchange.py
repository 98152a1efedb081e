"""Publishing a race, and taking published ones: nothing that exists is ever changed on either side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...base import ids
from ...base.errors import StoreError
from ...race.results.race import Race
from .database import Conflict, Database, Listing
from .document import ATTACHMENT, SCHEMA, TYPE, published, race_from

__all__ = ["Fetched", "fetch", "publish", "published_ids"]

MOST_TROUBLES = 100
"""After so many refused documents the database is not asked for more: each may take it minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What became of the races asked for."""

    taken: tuple[str, ...]
    """Ids of those that are here now."""
    known: tuple[str, ...]
    """Ids of those that were here before."""
    troubles: tuple[str, ...]
    """One sentence for each that could not be copied."""


def publish(race: Race, database: Database) -> bool:
    """Put ``race`` into ``database``; False when the very same is there already.

    Raises StoreError when it still runs, or when another content is published under its id.
    """
    if race.ending is None:
        raise StoreError(
            f"race {race.id} has not ended: it is running, or was killed. A published race never changes, so "
            "let it end first"
        )
    sent = published(race)
    there = database.get(race.id)
    if there is None:
        try:
            database.put(sent.body)
            return True
        except Conflict:
            there = database.get(race.id)
    if there is None or not _agrees(there, race, database):
        raise StoreError(
            f"race {race.id} is in {database.address} with different content, which was not changed. One of "
            f"the two was altered; see: stackrace history {race.id}"
        )
    return False


def published_ids(database: Database) -> Listing:
    """Return the ids that races may have; other documents may share the database."""
    listing = database.listing()
    return replace(listing, ids=tuple(dict.fromkeys(each for each in listing.ids if ids.PATTERN.fullmatch(each))))


def fetch(
    wanted: tuple[str, ...],
    database: Database,
    stored: Callable[[str], Race | None],
    keep: Callable[[Race], None],
    *,
    named: bool,
) -> Fetched:
    """Hand every race of ``wanted`` (ids) that ``stored`` does not know to ``keep``.

    One that cannot be taken does not keep the others from being. Documents that are no races are passed over,
    unless they were ``named``.
    """
    taken: list[str] = []
    known: list[str] = []
    troubles: list[str] = []
    for place, identifier in enumerate(wanted):
        if len(troubles) >= MOST_TROUBLES:
            troubles.append(f"{len(wanted) - place} more were not tried after so many")
            break
        try:
            document = database.get(identifier)
            if document is None and named:
                raise StoreError(f"there is no race {identifier} in {database.address}")
            if document is None or (not named and document.get("type") != TYPE):
                continue
            here = stored(identifier)
            if here is None:
                keep(_whole(document, database))
                taken.append(identifier)
            elif _agrees(document, here, database):
                known.append(identifier)
            else:
                troubles.append(
                    f"race {identifier} is here with different content, which was not changed. One of the two "
                    f"was altered; see: stackrace history {identifier}"
                )
        except StoreError as error:
            troubles.append(f"{identifier}: {error.message}")
    return Fetched(taken=tuple(taken), known=tuple(known), troubles=tuple(troubles))


def _whole(document: Mapping[str, Any], database: Database) -> Race:
    return race_from(document, database.attachment(document["_id"], ATTACHMENT))


def _agrees(document: Mapping[str, Any], ours: Race, database: Database) -> bool:
    """Tell whether ``document`` is the race that we would publish of ``ours``, whichever version published it."""
    sent = published(ours)
    if _content(document) in (sent.document, published(ours, discreet=False).document):
        return True
    earlier = document.get("type") == TYPE and document.get("schema") in range(1, SCHEMA)
    return earlier and published(_whole(document, database)).document == sent.document


def _content(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what we put there, without what a database adds."""
    return {name: each for name, each in document.items() if name == "_id" or not name.startswith("_")}
