"""``stackrace history``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from ...cli.options import store_option

if TYPE_CHECKING:
    from ...store.lookup import Alteration

_LONGEST = 60
"""Characters of a value that the text shows; --json has all of them."""


@click.command(
    epilog="""\b
Examples:
  stackrace history                       was the last race changed?
  stackrace history 3m41c                 who changed which rows, when, and what they were before
  stackrace history 3m41c --json | jq '.alterations[].who'"""
)
@click.argument("race", metavar="[RACE]", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document with each changed row as it was.")
@store_option
def command(race: str | None, as_json: bool, store: str | None) -> None:
    """Show whether anybody changed a stored race. RACE is its name, its id or the start of its id.

    The database records every later change to a result, whichever program makes it. Deleted races keep theirs.
    """
    from ...cli.showing import meant, print_document
    from ...store import open_store

    with open_store(store) as results:
        race_id = results.find(meant(race, results), deleted=True)
        alterations = results.alterations(race_id)
    if as_json:
        print_document(_document(race_id, alterations))
        return
    if not alterations:
        click.echo(f"race {race_id} was never altered")
        return
    times = "once" if len(alterations) == 1 else f"{len(alterations)} times"
    click.echo(f"race {race_id} was altered {times}:")
    for alteration in alterations:
        _show(alteration)


def _document(race_id: str, alterations: tuple[Alteration, ...]) -> dict[str, object]:
    return {
        "race": race_id,
        "altered": bool(alterations),
        "alterations": [
            {
                "at": each.at,
                "who": each.who,
                "deed": each.deed.value,
                "table": each.kind,
                "row": each.row,
                "changed": list(each.changed),
                "before": dict(each.before) or None,
            }
            for each in alterations
        ],
    }


def _show(alteration: Alteration) -> None:
    deed = alteration.deed.name.lower()
    click.echo(f"  {alteration.at}  {alteration.who}: {deed} {alteration.kind} {alteration.row}")
    for name in alteration.changed:
        click.echo(f"      {name} was {_short(alteration.before, name)}")


def _short(row: Mapping[str, object], name: str) -> str:
    text = json.dumps(row.get(name), ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"
