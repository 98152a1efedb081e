"""``stackrace report`` and ``stackrace name``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ..base.errors import InputError
from ..report.exporter import Format
from .options import details_option, json_option, schema_option, store_option

_PRINTED = {
    Format.JSON: "the JSON document (schema: --schema)",
    Format.CSV: "CSV, a line for each slice",
    Format.MARKDOWN: "Markdown, for a pull request",
}


def _format_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for form, about in reversed(_PRINTED.items()):
        option = click.option(f"--{form.name.lower()}", form.value, is_flag=True, help=f"Print {about}.")
        function = option(function)
    return function


@click.command(
    epilog="""\b
Examples:
  stackrace report                        the last race, on one screen
  stackrace report --details              all there is to say of it
  stackrace report --list                 what has been raced
  stackrace report 3m41c --html shop.html
  stackrace report historic/lighttpd-2008 --markdown
  stackrace report --markdown | gh pr comment --body-file -"""
)
@click.argument("race", metavar="[RACE]", required=False)
@click.option("--list", "listing", is_flag=True, help="List the last races instead.")
@click.option(
    "--html", metavar="PATH", type=click.Path(path_type=Path), help="Write the self-contained HTML report."
)
@details_option
@_format_options
@schema_option("stackrace.report.document:schema")
@store_option
def report_command(
    race: str | None,
    listing: bool,
    html: Path | None,
    store: str | None,
    details: bool,
    **forms: bool,
) -> None:
    """Show a race again. RACE is its name, its id or the start of its id. Default: the last race.

    historic/NAME shows the last run of a published comparison.
    """
    from ..race.request.named_races import source_of
    from .stdio import refuse_unwritable

    refuse_unwritable("--html", html)
    form = _only_form(forms, listing=listing, details=details)
    if listing:
        _list(store)
    elif race is not None and (source := source_of(race)) is not None:
        source.show(race, store, form, html)
    else:
        _show_race(race, store, form, html, details=details)


def _only_form(forms: dict[str, bool], *, listing: bool, details: bool) -> Format | None:
    wanted = [Format(name) for name, is_wanted in forms.items() if is_wanted]
    if len(wanted) + listing + details > 1:
        *names, last = (f"--{form.name.lower()}" for form in _PRINTED)
        raise InputError(f"give only one of --list, --details, {', '.join(names)} and {last}")
    return wanted[0] if wanted else None


def _list(store_url: str | None) -> None:
    from ..store import open_store

    with open_store(store_url) as store:
        for race in store.list(20):
            ending = race.ending or "unfinished"
            click.echo(f"{race.id}  {race.started_at}  {race.app}  {len(race.stacks)} stacks  {ending}")


def _show_race(
    race: str | None, store_url: str | None, form: Format | None, html: Path | None, *, details: bool
) -> None:
    from ..report.exporter import kind_of
    from ..report.merged_standing import standing_of
    from ..store import open_store
    from .showing import at_store, meant, short_steps, show, unfinished_note, write_html

    with open_store(store_url) as store:
        loaded = store.load(meant(race, store))
        hint, at = unfinished_note(loaded, store), at_store(store)
    standing = standing_of(loaded) if kind_of(loaded) is None else None
    if html is not None:
        click.echo(f"The report: {write_html(loaded, standing, html)}", err=form is not None)
    if form is not None or html is None:
        show(loaded, standing, form, details=details)
    if form is None and html is None and not details and standing is not None:
        click.echo("\n" + "\n".join(short_steps(loaded, standing, at=at)))
    if hint:
        click.echo(hint, err=True)


@click.command(
    epilog="""\b
Examples:
  stackrace name 3m41c before-upgrade-2024
  stackrace report before-upgrade-2024"""
)
@click.argument("race", metavar="RACE")
@click.argument("name", metavar="NAME")
@store_option
@json_option
def name_command(race: str, name: str, store: str | None, as_json: bool) -> None:
    """Give a stored race a name. Every command accepts it as RACE.

    A name has 13 to 32 characters of 0-9, a-z and -, with a hyphen inside. It never changes.
    """
    from ..store import open_store
    from .showing import print_document

    with open_store(store) as results:
        race_id = results.find(race)
        given = results.name(race_id, name)
    if as_json:
        print_document({"race": race_id, "name": given})
        return
    click.echo(f"race {race_id} is now called {given}")
