"""``stackrace report``."""

from __future__ import annotations

from pathlib import Path

import click

from .options import store_option

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  stackrace report                        the last race, in the terminal
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
@click.option("--json", "as_json", is_flag=True, help="Print the JSON document (schema: --schema).")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, a line for each slice.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print Markdown, for a pull request.")
@click.option("--schema", is_flag=True, help="Print the JSON document's schema.")
@store_option
def command(
    race: str | None,
    listing: bool,
    html: Path | None,
    as_json: bool,
    as_csv: bool,
    as_markdown: bool,
    schema: bool,
    store: str | None,
) -> None:
    """Show a race again. RACE is its name, its id or the start of its id. Default: the last race.

    historic/NAME shows the last run of a published comparison.
    """
    from ..historic import comparison_name
    from ..model.errors import InputError, StoreError
    from ..report import SCHEMA, Format, exporter
    from ..report.result import standing_of
    from ..store import open_store
    from .going_on import unfinished_note
    from .showing import show, write_html

    if sum((as_json, as_csv, as_markdown, listing, schema)) > 1:
        raise InputError("give only one of --list, --json, --csv, --markdown and --schema")
    if schema:
        click.echo(SCHEMA.read_text(encoding="utf-8"), nl=False)
        return
    comparison = comparison_name(race) if race is not None and not listing else None
    if comparison is not None:
        from ..report.historic import Form
        from .comparing import show_again

        if as_csv:
            raise InputError("--csv is for single races; a comparison has --json, --markdown and --html")
        wanted = Form.JSON if as_json else Form.MARKDOWN if as_markdown else None
        show_again(comparison, store_url=store, form=wanted, html=html)
        return
    with open_store(store) as results:
        if listing:
            for summary in results.list(20):
                ending = summary.ending or "unfinished"
                click.echo(f"{summary.id}  {summary.started_at}  {summary.app}  {summary.stacks} stacks  {ending}")
            return
        chosen = race or results.latest()
        if chosen is None:
            raise StoreError("nothing has been raced yet; start with: stackrace run")
        raced = results.load(chosen)
        hint = unfinished_note(raced, results)
    standing = standing_of(raced)
    forms = {Format.JSON: as_json, Format.CSV: as_csv, Format.MARKDOWN: as_markdown}
    form = next((form for form, wanted in forms.items() if wanted), None)
    if html is not None:
        click.echo(f"The report: {write_html(raced, standing, html)}", err=form is not None)
    if form is not None:
        click.echo(exporter(form).export(raced, standing), nl=False)
    elif html is None:
        show(raced, standing, as_json=False)
    if hint:
        click.echo(hint, err=True)
