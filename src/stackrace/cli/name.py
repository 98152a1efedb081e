"""``stackrace name``."""

from __future__ import annotations

import click

from .options import store_option

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  stackrace name 3m41c before-upgrade-2024
  stackrace report before-upgrade-2024"""
)
@click.argument("race", metavar="RACE")
@click.argument("name", metavar="NAME")
@store_option
def command(race: str, name: str, store: str | None) -> None:
    """Give a stored race a name. Every command accepts it as RACE.

    A name has 13 to 32 characters of 0-9, a-z and -, with a hyphen inside. It never changes.
    """
    from ..store import open_store

    with open_store(store) as results:
        race_id = results.find(race)
        given = results.name(race_id, name)
    click.echo(f"race {race_id} is now called {given}")
