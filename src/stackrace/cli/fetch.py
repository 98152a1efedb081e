"""``stackrace fetch``."""

from __future__ import annotations

import click

from .options import store_option

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  stackrace fetch http://127.0.0.1:5984/races               all races that you do not have
  stackrace fetch https://couch.example/races 3m41c 0x8p7   these two
  stackrace report 3m41c                                    then look at one"""
)
@click.argument("url", metavar="URL")
@click.argument("races", metavar="[RACE]...", nargs=-1)
@store_option
def command(url: str, races: tuple[str, ...], store: str | None) -> None:
    """Copy published races from a CouchDB-compatible database into your store. RACE is an id or the start of one.

    Default: all races. Races that you have already do not change. Put user and password into the URL, or into
    STACKRACE_COUCHDB_USER and STACKRACE_COUCHDB_PASSWORD.
    """
    from ..model.errors import StoreError
    from ..publish import Database, fetch, published_ids
    from ..publish.address import couch_address
    from ..store import open_store
    from ..store.lookup import the_one

    database = Database(couch_address(url))
    database.open()
    there = published_ids(database)
    wanted = tuple(dict.fromkeys(the_one(race, there) for race in races)) if races else there
    with open_store(store) as results:
        fetched = fetch(
            wanted,
            database,
            lambda race_id: results.load(race_id) if results.has(race_id) else None,
            results.begin,
            named=bool(races),
        )
    for race_id in fetched.taken:
        click.echo(f"fetched {race_id}")
    click.echo(f"{len(fetched.taken)} fetched, {len(fetched.known)} here already")
    if fetched.troubles:
        raise StoreError(f"{len(fetched.troubles)} could not be copied", detail="\n".join(fetched.troubles))
