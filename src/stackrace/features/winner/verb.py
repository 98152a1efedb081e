"""``stackrace winner``."""

from __future__ import annotations

import click

from ...cli.options import store_option


@click.command(
    epilog="""\b
Examples:
  stackrace winner                                    of the last race
  stackrace export "$(stackrace winner 3m41c)" to/    of that one"""
)
@click.argument("race", metavar="[RACE]", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@store_option
def command(race: str | None, as_json: bool, store: str | None) -> None:
    """Print the path of the stack that a race put first. RACE is its name, its id or the start of its id."""
    from ...base.errors import InputError
    from ...cli.showing import meant, print_document
    from ...report.result import standing_of
    from ...store import open_store

    with open_store(store) as results:
        raced = results.load(results.find(meant(race, results)))
    rows = standing_of(raced).rows
    if not rows:
        raise InputError(f"race {raced.id} put no stack first: nothing was measured")
    if as_json:
        print_document({"race": raced.id, "winner": rows[0].stack})
    else:
        click.echo(rows[0].stack)
