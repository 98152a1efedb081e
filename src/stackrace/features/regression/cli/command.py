"""``stackrace check``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from ....cli.options import store_option
from ....cli.race_file import requested
from ....cli.request_flags import APP_OPTIONS, RequestFlags, request_flags
from ....cli.run.options import BUDGET_OPTIONS
from ....cli.sections import SectionedCommand
from .options import ALLOW_OPTION, OUTPUT_OPTIONS, RACE_OPTIONS, SIDE_OPTIONS

__all__ = ["command"]


_Command = Callable[..., None]


def _with(options: Sequence[Callable[[_Command], _Command]]) -> Callable[[_Command], _Command]:
    def decorate(function: _Command) -> _Command:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


class _CheckCommand(SectionedCommand):
    rest = "How it is raced"


@click.command(
    cls=_CheckCommand,
    epilog="""\b
Examples:
  stackrace check                             this work tree against where it left the default branch
  stackrace check --base HEAD~1               the last commit, with what is changed since
  stackrace check race.toml --base main --allow 'cpu 3%' --allow 'start any'
  stackrace check --base-python .venv312 --head-python .venv313
  stackrace check --base-settings shop.settings --head-settings shop.settings_new
  stackrace check --base-stack gunicorn --head-stack gunicorn:class=gthread
  stackrace check --base main --junit check.xml --markdown check.md --json > check.json""",
)
@click.argument("race_file", metavar="[RACE.toml]", required=False, type=click.Path(path_type=Path))
@_with(SIDE_OPTIONS)
@ALLOW_OPTION
@request_flags(*RACE_OPTIONS, *APP_OPTIONS, *BUDGET_OPTIONS)
@store_option
@_with(OUTPUT_OPTIONS)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document; progress goes to stderr.")
@click.option("--schema", is_flag=True, help="Print the JSON document's schema.")
def command(
    race_file: Path | None, flags: RequestFlags, store: str | None, as_json: bool, schema: bool, **given: Any
) -> None:
    """Find out whether a change makes the app slower: base and head in one interleaved race on this machine.

    The head is the work tree as it is; files that git ignores are shared by both. Throughput, CPU per request, p99,
    memory, errors and start time are judged each by itself. A first alarm is raced again before it counts. Exit 0:
    not slower, and so much could not have been missed; 1: slower, confirmed; 3: too little time, or nothing to be
    believed.
    """
    from .run import check_and_report, outputs_of, schema_text, sides_of

    if schema:
        click.echo(schema_text(), nl=False)
        return
    request = flags.over(requested(race_file, flags.given.get("servers")))
    check_and_report(
        request,
        base=given["base"],
        own=sides_of(given),
        allowances=given["allowances"],
        outputs=outputs_of(given, as_json=as_json, store=store),
    )
