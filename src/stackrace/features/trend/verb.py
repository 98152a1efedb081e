"""``stackrace trend``."""

from __future__ import annotations

from pathlib import Path

import click

from ...cli.options import schema_option, store_option


@click.command(
    epilog="""\b
Examples:
  stackrace trend                     the races of the project in this folder
  stackrace trend ~/shop              of the project there
  stackrace trend 'bundled django'    of an app, by its name in stackrace report --list
  stackrace trend --html trend.html   as a page with charts
  stackrace trend --json | jq '.series[].changes'"""
)
@click.argument("project", metavar="[PROJECT]", required=False)
@click.option("--html", metavar="PATH", type=click.Path(path_type=Path), help="Write the page with charts.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document (schema: --schema).")
@click.option("--markdown", is_flag=True, help="Print Markdown.")
@click.option("--openmetrics", is_flag=True, help="Print OpenMetrics text of the last race of each stack.")
@schema_option("stackrace.features.trend.kind:schema")
@store_option
def command(
    project: str | None, html: Path | None, as_json: bool, markdown: bool, openmetrics: bool, store: str | None
) -> None:
    """Show a project's races over time, and what changed for good.

    PROJECT is a folder or the name of an app. Default: the project in this folder. Only races of one stack,
    workload, load and machine are compared. One race that differs is no change yet.
    """
    from ...cli.stdio import refuse_unwritable

    if as_json + markdown + openmetrics > 1:
        raise click.UsageError("give only one of --json, --markdown and --openmetrics")
    refuse_unwritable("--html", html)
    _show(project, store, html, as_json=as_json, markdown=markdown, as_metrics=openmetrics)


def _show(
    project: str | None,
    store_url: str | None,
    html: Path | None,
    *,
    as_json: bool,
    markdown: bool,
    as_metrics: bool,
) -> None:
    from ...cli.showing import write_text
    from ...cli.stdio import StatusLine
    from ...report.exporter import Format, written
    from ...report.terminal import print_sections
    from ...store import open_store
    from .joining import trend_of
    from .kind import KIND, openmetrics

    line = StatusLine()

    def on_race(done: int, of: int) -> None:
        """Show the progress of reading on a terminal; clear it after the last race."""
        line.show(f"reading race {done + 1} of {of} …" if done < of else "")

    with open_store(store_url) as results:
        trend = trend_of(project, results, folder=Path.cwd(), on_race=on_race)
    if html is not None:
        click.echo(
            f"The trend: {write_text(written(KIND, trend, Format.HTML), html)}",
            err=as_json or markdown or as_metrics,
        )
    if as_metrics:
        click.echo(openmetrics(trend), nl=False)
    elif as_json or markdown:
        click.echo(written(KIND, trend, Format.JSON if as_json else Format.MARKDOWN), nl=False)
    elif html is None:
        print_sections(KIND.sections(trend))
