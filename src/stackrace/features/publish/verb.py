"""``stackrace publish`` and ``stackrace fetch``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ...cli.options import json_option, store_option

if TYPE_CHECKING:
    from .couchdb import Database


@click.command(
    epilog="""\b
Examples:
  stackrace publish 3m41c http://127.0.0.1:5984/races --create
  stackrace publish before-upgrade-2024 https://ana:secret@couch.example:6984/races"""
)
@click.argument("race", metavar="RACE")
@click.argument("url", metavar="URL")
@click.option("--create", is_flag=True, help="Create the database if it does not exist. Default: fail.")
@store_option
@json_option
def publish_command(race: str, url: str, create: bool, store: str | None, as_json: bool) -> None:
    """Publish a race in a CouchDB-compatible database. RACE is its name, its id or the start of its id.

    URL ends with the name of the database. Put user and password into it, or into STACKRACE_COUCHDB_USER and
    STACKRACE_COUCHDB_PASSWORD. A published race never changes. Publishing it again does nothing.
    """
    from ...cli.showing import print_document
    from ...store import open_store
    from .couchdb import Database
    from .exchange import publish

    database = Database.at(url)
    with open_store(store) as results:
        raced = results.load(race)
    database.open(create=create)
    done = publish(raced, database)
    if as_json:
        print_document({"race": raced.id, "database": str(database), "is_new": done})
        return
    click.echo(f"race {raced.id} {'is now' if done else 'was already'} in {database}")


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
@json_option
def fetch_command(url: str, races: tuple[str, ...], store: str | None, as_json: bool) -> None:
    """Copy published races from a CouchDB-compatible database into your store. RACE is an id or the start of one.

    Default: all races. Races that you have already do not change. Put user and password into the URL, or into
    STACKRACE_COUCHDB_USER and STACKRACE_COUCHDB_PASSWORD.
    """
    from ...base import ids
    from ...base.errors import StoreError
    from ...cli.showing import print_document
    from ...store import open_store
    from .couchdb import Database
    from .exchange import fetch, published_ids

    database = Database.at(url)
    database.open()
    cut = ""
    if races and all(ids.PATTERN.fullmatch(race) for race in races):
        wanted = tuple(dict.fromkeys(races))
    else:
        listing = published_ids(database)
        cut = _listing_note(listing.cut, database)
        wanted = tuple(dict.fromkeys(_full_id(race, listing.ids, cut) for race in races)) if races else listing.ids
    with open_store(store) as results:
        fetched = fetch(
            wanted,
            database,
            lambda race_id: results.load(race_id) if results.has(race_id) else None,
            results.begin,
            named=bool(races),
        )
    if as_json:
        print_document(
            {"fetched": list(fetched.taken), "known": list(fetched.known), "failed": list(fetched.troubles)}
        )
    else:
        for race_id in fetched.taken:
            click.echo(f"fetched {race_id}")
        click.echo(f"{len(fetched.taken)} fetched, {len(fetched.known)} here already")
    if fetched.troubles:
        message = f"{len(fetched.troubles)} could not be copied" + (f"; {cut}" if cut else "")
        raise StoreError(message, detail="\n".join(fetched.troubles))
    if cut:
        raise StoreError(cut)


def _listing_note(cut: str, database: Database) -> str:
    if not cut:
        return ""
    return f"the listing of {database} {cut}; fetch any other race by its whole id: stackrace fetch {database} ID"


def _full_id(race: str, ids: tuple[str, ...], cut: str) -> str:
    from ...base.errors import StoreError
    from ...store.lookup import the_one

    try:
        return the_one(race, ids)
    except StoreError as error:
        raise StoreError(f"{error.message}; {cut}" if cut else error.message, detail=error.detail) from error
