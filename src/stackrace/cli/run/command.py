"""``stackrace run``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING

import click

from ..options import details_option, store_option
from ..race_file import requested
from ..request_flags import APP_OPTIONS, RequestFlags, app_words, given_beside, request_flags
from ..sections import SectionedCommand
from .options import (
    BUDGET_OPTIONS,
    CURRENT_OPTIONS,
    LOAD_OPTIONS,
    QUESTION_OPTIONS,
    RUN_OPTIONS,
    question,
    stack_option,
)

if TYPE_CHECKING:
    from .output import Output

__all__ = ["command"]


class _RunCommand(SectionedCommand):
    rest = "Output"


@click.command(
    cls=_RunCommand,
    context_settings={"allow_extra_args": True},
    epilog="""\b
Examples:
  stackrace run                              the project in this folder, or the bundled app if it is empty
  stackrace run race.toml --budget 20min     as the file says, but longer
  stackrace run historic/lighttpd-2008 --quick   a published comparison on today's software, in minutes
  stackrace run --project ~/shop --url /items/?page=3 -c 1 -c 50
  stackrace run --session browse.har --stack gunicorn --stack waitress
  stackrace run --requests 500 --repeats 5 -c 1 -c 125 --stack gunicorn --stack uwsgi
  stackrace run --stack gunicorn:workers=4 --stack nginx/uwsgi/uwsgi:processes=4 --budget 60s --json
  stackrace run --resume                     go on with the race that was interrupted last
  stackrace run --resume 0uh59 --budget 1h   with that one, and give it more time""",
)
@click.argument("race_file", metavar="[RACE.toml]", required=False, type=click.Path(path_type=Path))
@request_flags(
    stack_option, *CURRENT_OPTIONS, *APP_OPTIONS, *LOAD_OPTIONS, *RUN_OPTIONS, *QUESTION_OPTIONS, *BUDGET_OPTIONS
)
@question(
    "--quick",
    is_flag=True,
    help="For published comparisons: short slices or runs, which take minutes, instead of the author's protocol.",
)
@question(
    "--resume",
    metavar="[RACE]",
    is_flag=False,
    flag_value="",
    help="Continue an interrupted race, by name or id. Default: the last one.",
)
@store_option
@click.option("--html", metavar="PATH", type=click.Path(path_type=Path), help="Where to write the HTML report.")
@details_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document; progress goes to stderr.")
def command(
    race_file: Path | None,
    flags: RequestFlags,
    quick: bool,
    resume: str | None,
    store: str | None,
    html: Path | None,
    as_json: bool,
    details: bool,
) -> None:
    """Race a web application across deployment stacks, and say which wins, by how much, and why.

    RACE.toml says what to race; flags override it. Default: the app in this folder, in an empty one the bundled
    app. The race ends with an answer or at the end of the budget. Ctrl-C ends it early and keeps the results;
    --resume continues it. historic/NAME repeats a published comparison and says which of its claims hold today.
    """
    from ...race.preparation.contestants import beside_current
    from ...race.request.named_races import source_of
    from ..showing import refuse_unwritable
    from .live import race_and_report
    from .output import Output

    if more := click.get_current_context().args:
        stacks = join(word for name in more for word in ("--stack", name))
        raise click.UsageError(f"one race file at most, so not also {join(more)}; stacks are given as {stacks}")
    if details and as_json:
        raise click.UsageError("give only one of --details and --json: the document has all there is to say")
    refuse_unwritable("--html", html)
    output = Output(store=store, html=html, as_json=as_json, details=details)
    source = source_of(race_file) if race_file is not None else None
    if resume is not None:
        _resume(resume, flags, output)
    elif source is not None and race_file is not None:
        source.run(race_file, flags.given, output, quick=quick)
    elif quick:
        raise click.UsageError(
            "--quick is for published comparisons: historic/NAME; give --budget for a shorter race"
        )
    else:
        asked = (*([str(race_file)] if race_file else []), *app_words())
        output = replace(output, asked=asked, session=flags.given.get("session"))
        request = flags.over(requested(race_file, flags.given.get("servers")))
        race_and_report(beside_current(request), output)


_GOING_ON = {"resume", "budget_s", "store", "html", "as_json", "details"}
"""What may be said of a race that goes on; everything else would make it another one."""


def _resume(race: str, flags: RequestFlags, output: Output) -> None:
    """Go on with a race, after refusing flags that would change it."""
    for other in given_beside(_GOING_ON):
        raise click.UsageError(
            f"{other} would change the race that --resume continues; leave it out, or start a new race"
        )
    from .live import resume_and_report

    resume_and_report(race, flags.given.get("budget_s"), output)
