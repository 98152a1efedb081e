"""``stackrace publish``."""

from __future__ import annotations

import click

from .options import store_option

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  stackrace publish 3m41c http://127.0.0.1:5984/races --create
  stackrace publish before-upgrade-2024 https://ana:secret@couch.example:6984/races"""
)
@click.argument("race", metavar="RACE")
@click.argument("url", metavar="URL")
@click.option("--create", is_flag=True, help="Make the database if it is not there. Default: say that it is not.")
@store_option
def command(race: str, url: str, create: bool, store: str | None) -> None:
    """Put a race into a CouchDB-compatible database, where others fetch it: RACE is its id, its start or its name.

    URL ends with the database's name. Credentials are taken from it or from STACKRACE_COUCHDB_USER and
    STACKRACE_COUCHDB_PASSWORD. A race is published once and never changes there; doing so again does nothing.
    """
    from ..publish import Database, publish
    from ..publish.address import couch_address
    from ..store import open_store

    database = Database(couch_address(url))
    with open_store(store) as results:
        raced = results.load(race)
    database.open(create=create)
    done = publish(raced, database)
    click.echo(f"race {raced.id} {'is now' if done else 'was already'} in {database.address}")
