"""Publishing a race, and taking published ones: nothing that exists is ever changed on either side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...base import ids
from ...base.errors import StoreError
from ...race.results.race import Race
from .database import Conflict, Database, Listing
from .document import ATTACHMENT, TYPE, published, race_from

_MOST_TROUBLES = 100
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
    if there is None or not _agrees(there, race):
        raise StoreError(
            f"race {race.id} is in {database} with different content, which was not changed. One of "
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
        if len(troubles) >= _MOST_TROUBLES:
            troubles.append(f"{len(wanted) - place} more were not tried after so many")
            break
        try:
            document = database.get(identifier)
            if document is None and named:
                raise StoreError(f"there is no race {identifier} in {database}")
            if document is None or (not named and document.get("type") != TYPE):
                continue
            here = stored(identifier)
            if here is None:
                keep(race_from(document, database.attachment(document["_id"], ATTACHMENT)))
                taken.append(identifier)
            elif _agrees(document, here):
                known.append(identifier)
            else:
                troubles.append(
                    f"race {identifier} is here with different content, which was not changed. One of the two "
                    f"was altered; see: stackrace history {identifier}"
                )
        except StoreError as error:
            troubles.append(f"{identifier}: {error.message}")
    return Fetched(taken=tuple(taken), known=tuple(known), troubles=tuple(troubles))


def _agrees(document: Mapping[str, Any], ours: Race) -> bool:
    """Tell whether ``document`` is what we would publish of ``ours``, but for what a database adds."""
    content = {name: each for name, each in document.items() if name == "_id" or not name.startswith("_")}
    return content == published(ours).document
