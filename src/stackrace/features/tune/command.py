"""``stackrace tune``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ...base.units import DURATION, PERCENT, SIZE
from ...cli.options import (
    Connections,
    Cores,
    Quantity,
    SectionedCommand,
    complete_stack,
    held_options,
    requested,
    schema_option,
    section,
    store_option,
)
from ...cli.request_flags import APP_OPTIONS, RequestFlags, given_flags, request_flags
from ...race.request.request import MOST_SEED


class _CoreCount(click.ParamType[int | tuple[int, ...]]):
    """Type of ``--cores``: a plain number is a number of cores; a list (0-1 or 0,2) names the cores."""

    name = "cores"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | tuple[int, ...]:
        """Return the number of cores, or the listed cores."""
        text = str(value).strip()
        if text.isdecimal():
            if not 1 <= int(text) <= 4096:
                self.fail(f"{text} is out of range; give how many cores, at least 1, or which (0-1)", param, ctx)
            return int(text)
        return Cores().convert(text, param, ctx)


_goal = section("The goal")
_limits = section("The limits")
_search = section("The search")
_show = section("Output")


@click.command(
    cls=SectionedCommand,
    epilog="""\b
Examples:
  stackrace tune gunicorn                          workers, class and threads for the app in this folder
  stackrace tune nginx/uwsgi/uwsgi --memory 512MiB --connections 20
  stackrace tune gunicorn --goal 'p99 at 200/s' --url /items/?page=3 --budget 20min
  stackrace tune granian --goal 'memory at 500/s'  the least memory that delivers 500 requests/s
  stackrace tune nginx/http/gunicorn:class=gthread --vary nginx --vary threads
  stackrace tune gunicorn --current 'gunicorn:workers=9'   compared with what runs today, too
  stackrace tune --resume                          go on with the tuning that was interrupted last""",
)
@click.argument("stack", required=False, metavar="[STACK]", shell_complete=complete_stack)
@click.option(
    "--race-file",
    metavar="RACE.toml",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Race file that says which app and pages. Default: the app in this folder.",
)
@request_flags(
    *APP_OPTIONS,
    _goal(
        "-c",
        "--concurrency",
        multiple=True,
        type=Connections(20_000, levels=True),
        help="Connections, for the goal throughput. Default: 100, fewer for a slow page.",
    ),
    *held_options(_goal),
    _search(
        "--budget",
        "budget_s",
        type=Quantity(DURATION),
        help="Time to spend, such as 5min. Default: 10min.",
    ),
    _search(
        "--slice", "slice_s", type=Quantity(DURATION), help="Length of a slice. Default: fitted to page and goal."
    ),
    _search(
        "--difference",
        type=Quantity(PERCENT, most=1.0),
        help="Smaller differences do not matter to you. Default: 5%.",
    ),
    _search(
        "--seed",
        type=click.IntRange(0, MOST_SEED),
        metavar="N",
        help="Repeat another tuning's order. Default: random.",
    ),
    into="app",
)
@_goal(
    "--goal",
    metavar="GOAL",
    help='What to make the best of: "throughput", "p99 at 200/s" (or p50, p90, p99.9), or "memory at 500/s", the '
    "least memory that delivers that rate. Default: throughput.",
)
@_limits(
    "--cores",
    type=_CoreCount(),
    metavar="N|LIST",
    help="Cores of every configuration: how many, or which (0-1). Default: all but the load engine's.",
)
@_limits(
    "--memory",
    type=Quantity(SIZE),
    metavar="SIZE",
    help="Most memory of all its processes under load, such as 512MiB. Default: no limit.",
)
@_limits(
    "--connections",
    type=click.IntRange(1, 1_000_000),
    metavar="N",
    help="Most connections to databases under load. Default: no limit.",
)
@_search(
    "--vary",
    multiple=True,
    metavar="SETTING",
    help="Setting to tune: threads, nginx.workers, nginx (all of that server) or all; with the values to try: "
    "threads=8,16,32. Repeat it for more. Default: those of the server that hosts the app, except those that STACK "
    "sets.",
)
@_search(
    "--current",
    metavar="PATH",
    shell_complete=complete_stack,
    help="Stack that the project is deployed with today, to compare with. Default: what its files say.",
)
@_search(
    "--resume",
    metavar="[RACE]",
    is_flag=False,
    flag_value="",
    help="Continue an interrupted tuning, by name or id. Default: the last one.",
)
@store_option
@_show("--html", metavar="PATH", type=click.Path(path_type=Path), help="Where to write the page.")
@_show("--json", "as_json", is_flag=True, help="Print one JSON document; progress goes to stderr.")
@schema_option("stackrace.features.tune.tuning_report:schema", _show)
def command(
    stack: str | None,
    race_file: Path | None,
    app: RequestFlags,
    goal: str | None,
    cores: int | tuple[int, ...] | None,
    memory: float | None,
    connections: int | None,
    vary: tuple[str, ...],
    current: str | None,
    resume: str | None,
    **output: Any,
) -> None:
    """Find the best settings of a stack for this app, within limits.

    All configurations race in shuffled blocks. Those that cannot be the best leave. The last four are launched
    anew several times, and the one with the best poor launch wins: nine launches of ten are better. What
    configurations need in memory and connections is measured. Ctrl-C keeps what was measured.
    """
    from dataclasses import replace

    from ...cli.announcer import Announcer
    from ...cli.live_race import Output, race_live, resume_and_report
    from ...cli.stdio import refuse_unwritable
    from ...store import open_store
    from .model import Tuning, TuningLimits
    from .strategy import show
    from .tuning_preparation import ready_tuning
    from .tuning_request import TuneRequest, parse_goal

    refuse_unwritable("--html", output["html"])
    if resume is not None:
        for other in (*filter(None, [stack]), *given_flags({*_GOING_ON, "stack"})):
            raise click.UsageError(
                f"{other} would change the tuning that --resume continues; leave it out, or start a new one"
            )
        resume_and_report(resume, app.given.get("budget_s"), Output(**output), of=Tuning.name)
        return
    if stack is None:
        raise click.UsageError("which stack? Give one, as in: stackrace tune gunicorn")
    wanted = parse_goal(goal or "throughput")
    if wanted.rate_per_s is not None and app.given.get("concurrency"):
        raise click.UsageError(
            "-c is for the goal throughput; a rate decides by itself how many connections there are"
        )
    request = app.over(requested(race_file, app.given.get("servers")))
    # these keys of a race file are for races among stacks
    request = replace(request, stacks=None, repeats=None, memory_bytes=None, exhaustive=False)
    if isinstance(cores, tuple):
        request = replace(request, cores=cores)
    asked = TuneRequest(
        race=request,
        stack=stack,
        goal=wanted,
        limits=TuningLimits(memory_bytes=None if memory is None else int(memory), connections=connections),
        vary=vary,
        current=current,
        core_count=cores if isinstance(cores, int) else None,
    )
    with open_store(output["store"]) as store:
        store.need_writable()
        with Announcer() as announcer:
            race = race_live(ready_tuning(asked, store, announcer), announcer, store)
        show(race, html=output["html"], as_json=output["as_json"])


_GOING_ON = {"resume", "budget_s", "store", "html", "as_json"}
