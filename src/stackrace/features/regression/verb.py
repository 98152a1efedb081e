"""``stackrace check`` and the options that only it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from ...base.errors import InputError
from ...base.units import DURATION, PERCENT
from ...cli.options import (
    Connections,
    Quantity,
    SectionedCommand,
    complete_stack,
    held_options,
    requested,
    schema_option,
    section,
    store_option,
)
from ...cli.request_flags import APP_OPTIONS, BUDGET_OPTIONS, RequestFlags, of_features, request_flags
from ...race.results.comparison import Response
from ...stacks.stack import Side

_sides = section("What is compared")
_outputs = section("Output")

_ANY = "any"


def _read_allowances(
    context: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> Mapping[Response, float | None]:
    """Return the allowances in ``texts`` such as ``cpu 3%``, None for ``any``; raises BadParameter with
    examples."""
    return dict(map(_allowance, texts))


def _allowance(text: str) -> tuple[Response, float | None]:
    name, _, amount = text.replace("=", " ").partition(" ")
    names = [str(response) for response in Response]
    if name not in names or not amount.strip():
        raise click.BadParameter(
            f"{text!r} is no allowance; write a response ({', '.join(names)}) and how much worse it may get, as in "
            "'cpu 3%', or 'memory any' to leave it out"
        )
    if amount.strip() == _ANY:
        return Response(name), None
    try:
        share = PERCENT.parse(amount.strip())
    except InputError as error:
        raise click.BadParameter(f"{name}: {error.message}") from error
    if share >= 1 and name in (Response.THROUGHPUT, Response.ERRORS):
        raise click.BadParameter(f"{name}: {amount} is all of it; write {name} {_ANY} to leave it out")
    return Response(name), share


def _read_variables(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> Mapping[str, str]:
    """Return the variables in texts ``NAME=VALUE``; raises BadParameter for anything else."""
    variables = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"{text!r} is no variable; write NAME=VALUE")
        variables[name] = value
    return variables


def _side_options(side: Side) -> tuple[Callable[..., Any], ...]:
    what = f"the {side}"
    return (
        _sides(
            f"--{side}-python",
            metavar="PATH",
            type=click.Path(path_type=Path),
            help=f"Interpreter or environment of {what}. Default: the app's own.",
        ),
        _sides(f"--{side}-settings", metavar="MODULE", help=f"Django settings module of {what}."),
        _sides(f"--{side}-stack", metavar="PATH", shell_complete=complete_stack, help=f"Stack of {what}."),
        _sides(
            f"--{side}-env",
            multiple=True,
            metavar="NAME=VALUE",
            callback=_read_variables,
            help=f"Variable of {what}. Repeat it for more.",
        ),
    )


_raced = section("How it is raced")

_RACE_OPTIONS = (
    _raced(
        "--stack",
        "stacks",
        multiple=True,
        metavar="PATH",
        shell_complete=complete_stack,
        help="Stack to race both on; see `stackrace stacks`. Default: the race file's, if it names only one, else "
        "what the head's files run today, else the first of the most used that is ready.",
    ),
    _raced(
        "-c",
        "--concurrency",
        type=Connections(20_000),
        callback=lambda context, option, number: None if number is None else (number,),
        help="Connections. Default: the race file's highest level, else 10, fewer for a slow page.",
    ),
    _raced(
        "--close",
        "keep_alive",
        is_flag=True,
        flag_value=False,
        default=True,
        help="Open a new connection for every request (no keep-alive).",
    ),
    *held_options(_raced),
    _raced(
        "--budget",
        "budget_s",
        type=Quantity(DURATION),
        help="The most time to measure; an answer may come earlier. Default: the race file's, or 10min.",
    ),
    _raced(
        "--session",
        metavar="FILE",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="Replay a HAR file or an access log instead of URLs. Each connection is a visitor.",
    ),
)
"""Options for the race of both sides; each is named like a field of ``RaceRequest``."""


def _file(name: str, text: str) -> Callable[..., Any]:
    return _outputs(f"--{name}", metavar="PATH", type=click.Path(path_type=Path), help=text)


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
@_sides(
    "--base",
    metavar="REV",
    help="Commit to compare the work tree with, such as main or HEAD~1. Default: where it left the default "
    "branch; on that branch the last commit if files are changed, else the one before.",
)
@request_flags(*_side_options(Side.BASE), *_side_options(Side.HEAD), into="sides")
@_raced(
    "--allow",
    "allowances",
    multiple=True,
    metavar="'RESPONSE SHARE'",
    callback=_read_allowances,
    help="How much worse a response may get, as in 'cpu 3%', or 'memory any' to leave it out: throughput (1%), cpu "
    "(1%), p99 (5%), memory (2%), errors (0.1%), start (5%). p90 and p50 are judged only if they are named.",
)
@request_flags(*_RACE_OPTIONS, *APP_OPTIONS, *of_features("What every stack gets"), *BUDGET_OPTIONS)
@store_option
@_file("junit", "Write JUnit XML, a test case for each response.")
@_file("markdown", "Write Markdown, for a step summary or a comment.")
@_file("openmetrics", "Write OpenMetrics text, for a time-series database.")
@_file("html", "Write the self-contained HTML report. Default: beside the results.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document; progress goes to stderr.")
@schema_option("stackrace.features.regression.kind:schema")
def command(race_file: Path | None, flags: RequestFlags, sides: RequestFlags, **given: Any) -> None:
    """Find out whether a change makes the app slower: base and head in one interleaved race on this machine.

    The head is the work tree as it is; files that git ignores are shared by both. Throughput, CPU per request, p99,
    memory, errors and start time are judged each by itself. A first alarm is raced again before it counts. Exit 0:
    not slower, and so much could not have been missed; 1: slower, confirmed; 3: too little time, or nothing to be
    believed.
    """
    from .run import check_and_report

    check_and_report(flags.over(requested(race_file, flags.given.get("servers"))), sides.given, given)
