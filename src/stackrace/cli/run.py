"""``stackrace run``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING

import click

from ..base.units import DURATION, PERCENT
from ..race.request.request import MOST_SEED
from ..stats.values import Question
from .options import (
    BriefCommand,
    Connections,
    Quantity,
    complete_stack,
    details_option,
    held_options,
    requested,
    section,
    store_option,
)
from .request_flags import (
    APP_OPTIONS,
    BUDGET_OPTIONS,
    RequestFlags,
    app_words,
    given_flags,
    of_features,
    request_flags,
)

if TYPE_CHECKING:
    from .live_race import Output

_stacks = section("What is raced")
_load = section("The load")
_question = section("The question, and the time for it")

_stack_option = _stacks(
    "--stack",
    "stacks",
    multiple=True,
    metavar="PATH",
    shell_complete=complete_stack,
    help="Stack to race. Repeat it for more; see `stackrace stacks`. Default: the most used that are ready, "
    "at most seven, fewer for a slow page.",
)

_LOAD_OPTIONS = (
    _load(
        "-c",
        "--concurrency",
        multiple=True,
        type=Connections(20_000, levels=True),
        metavar="N",
        help="Connections. Repeat it for more load levels. Default: 1, 10 and 100, fewer for a slow page.",
    ),
    _load(
        "--close",
        "keep_alive",
        is_flag=True,
        flag_value=False,
        default=True,
        help="Open a new connection for every request (no keep-alive).",
    ),
    *held_options(_load),
    _question(
        "--budget",
        "budget_s",
        type=Quantity(DURATION),
        help="Time to spend, such as 60s or 20min. Default: 3min.",
    ),
    _question(
        "--slice",
        "slice_s",
        type=Quantity(DURATION),
        help="Length of a slice, the load on one stack at a time. Default: fitted to page and budget.",
    ),
    _load(
        "--session",
        metavar="FILE",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="Replay a HAR file or an access log instead of URLs. Each connection is a visitor.",
    ),
    _load("--think", is_flag=True, help="Keep the pauses of --session. Default: leave them out."),
)

_RUN_OPTIONS = (
    _load(
        "--requests",
        "run_requests",
        metavar="N",
        type=click.IntRange(1),
        help="Length of a run in requests, with --repeats.",
    ),
    _load("--duration", "run_s", type=Quantity(DURATION), help="Length of a run in time (10s), with --repeats."),
    _load(
        "--repeats",
        metavar="N",
        type=click.IntRange(1),
        help="Make N cold runs of each stack at each level, each after a fresh start of the stack, as published "
        "comparisons did. Default: warm slices, as many as the budget holds.",
    ),
    _question(
        "--no-twin",
        "twin",
        is_flag=True,
        flag_value=False,
        default=True,
        help="Run no stack twice. Default: one runs twice, the second time as its hidden twin, and the race is "
        "void if the two differ.",
    ),
)

_QUESTION_OPTIONS = (
    _question(
        "--question",
        type=click.Choice([question.value for question in Question]),
        callback=lambda context, option, question: None if question is None else Question(question),
        help="What to answer. Default: winner.",
    ),
    _question(
        "--difference",
        type=Quantity(PERCENT, most=1.0),
        help="Smaller differences do not matter to you. Default: 5%.",
    ),
    _question(
        "--give-up",
        is_flag=True,
        help="End at half of the budget where the rest is unlikely to decide. Default: race on.",
    ),
    _question(
        "--seed",
        type=click.IntRange(0, MOST_SEED),
        metavar="N",
        help="Repeat the order of another race. Default: random.",
    ),
)


class _RunCommand(BriefCommand):
    rest = "Output"


@click.command(
    cls=_RunCommand,
    brief={
        "stacks": "Stack to race; repeat it for more. Default: the most used.",
        "django": "Settings module, such as mysite.settings.",
        "wsgi": "WSGI callable, such as notes:app or notes:create_app().",
        "asgi": "ASGI callable.",
        "python": "Interpreter of the app.",
        "env_files": "File with the app's variables, such as .env.",
        "folder": "The app's folder. Default: this one.",
        "urls": "Path to request; repeat it for more.",
        "concurrency": "Connections; repeat it for more levels.",
        "session": "Replay a HAR file or an access log instead of URLs.",
        "budget_s": "Time to spend, such as 60s or 20min. Default: 3min.",
        "resume": "Continue an interrupted race. Default: the last one.",
        "memory_bytes": "Memory limit of every stack, such as 512MiB.",
        "html": "Where to write the HTML report.",
        "as_json": "Print one JSON document; progress goes to stderr.",
    },
    examples=3,
    context_settings={"allow_extra_args": True},
    epilog="""\b
Examples:
  stackrace run                              the project in this folder
  stackrace run race.toml --budget 20min     as the file says, but longer
  stackrace run historic/lighttpd-2008 --quick   a published comparison, today
  stackrace run --project ~/shop --url /items/?page=3 -c 1 -c 50
  stackrace run --session browse.har --stack gunicorn --stack waitress
  stackrace run --requests 500 --repeats 5 -c 1 -c 125 --stack gunicorn --stack uwsgi
  stackrace run --stack gunicorn:workers=4 --stack nginx/uwsgi/uwsgi:processes=4 --budget 60s --json
  stackrace run --resume                     go on with the race that was interrupted last
  stackrace run --resume 0uh59 --budget 1h   with that one, and give it more time""",
)
@click.argument("race_file", metavar="[RACE.toml]", required=False, type=click.Path(path_type=Path))
@request_flags(
    _stack_option,
    *of_features("What is raced"),
    *APP_OPTIONS,
    *_LOAD_OPTIONS,
    *_RUN_OPTIONS,
    *_QUESTION_OPTIONS,
    *of_features("What every stack gets"),
    *BUDGET_OPTIONS,
)
@_question(
    "--quick",
    is_flag=True,
    help="For published comparisons: short slices or runs, which take minutes, instead of the author's protocol.",
)
@_question(
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
@click.option(
    "--json-lines",
    "as_lines",
    is_flag=True,
    help="Print each event of the race as a line of JSON while it runs, and the document as the last.",
)
def command(
    race_file: Path | None,
    flags: RequestFlags,
    quick: bool,
    resume: str | None,
    store: str | None,
    html: Path | None,
    as_json: bool,
    as_lines: bool,
    details: bool,
) -> None:
    """Race a web application across deployment stacks, and say which wins, by how much, and why.

    RACE.toml says what to race; flags override it. Default: the app in this folder, in an empty one the bundled
    app. The race ends with an answer or at the end of the budget. Ctrl-C ends it early and keeps the results;
    --resume continues it. historic/NAME repeats a published comparison and says which of its claims hold today.
    """
    from ..race.preparation.contestants import with_current_deployment
    from ..race.request.named_races import source_of
    from .live_race import Output, race_and_report
    from .stdio import refuse_unwritable

    if more := click.get_current_context().args:
        stacks = join(word for name in more for word in ("--stack", name))
        raise click.UsageError(f"one race file at most, so not also {join(more)}; stacks are given as {stacks}")
    if details + as_json + as_lines > 1:
        raise click.UsageError("give only one of --details, --json and --json-lines: the document has all there is")
    refuse_unwritable("--html", html)
    output = Output(store=store, html=html, as_json=as_json, as_lines=as_lines, details=details)
    source = source_of(race_file) if race_file is not None else None
    if as_lines and source is not None:
        raise click.UsageError("--json-lines follows one race; a published comparison has --json")
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
        race_and_report(with_current_deployment(request), output)


_GOING_ON = {"resume", "budget_s", "store", "html", "as_json", "as_lines", "details"}


def _resume(race: str, flags: RequestFlags, output: Output) -> None:
    """Continue ``race``, an id or a name (empty: the last one); refuse flags that would change it."""
    for other in given_flags(_GOING_ON):
        raise click.UsageError(
            f"{other} would change the race that --resume continues; leave it out, or start a new race"
        )
    from .live_race import resume_and_report

    resume_and_report(race, flags.given.get("budget_s"), output)
