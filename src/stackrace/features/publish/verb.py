"""``stackrace publish``."""

from __future__ import annotations

import click

from ...cli.options import store_option

__all__ = ["command"]


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
def command(race: str, url: str, create: bool, store: str | None) -> None:
    """Publish a race in a CouchDB-compatible database. RACE is its name, its id or the start of its id.

    URL ends with the name of the database. Put user and password into it, or into STACKRACE_COUCHDB_USER and
    STACKRACE_COUCHDB_PASSWORD. A published race never changes. Publishing it again does nothing.
    """
    from ...store import open_store
    from .address import couch_address
    from .database import Database
    from .exchange import publish

    database = Database(couch_address(url))
    with open_store(store) as results:
        raced = results.load(race)
    database.open(create=create)
    done = publish(raced, database)
    click.echo(f"race {raced.id} {'is now' if done else 'was already'} in {database.address}")
