"""``stackrace capacity``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ...base.units import DURATION
from ...cli.load.flags import ANSWERS, CONNECTIONS, ENGINE, RACED, REQUESTS, flags
from ...cli.options import Connections, Quantity, SectionedCommand, section
from ...cli.request_flags import STARTED_OPTIONS, RequestFlags, request_flags

_goal = section("The goal, one at least")
_search = section("The search")
_show = section("Output")
_QUANTILES = {"p50": "Half", "p90": "90 %", "p99": "99 %", "p999": "99.9 %"}


def _limits(function: Any) -> Any:
    for name, share in reversed(_QUANTILES.items()):
        function = _goal(
            f"--{name}",
            type=Quantity(DURATION),
            metavar="TIME",
            help=f"{share} of the requests take at most this.",
        )(function)
    return function


@click.command(
    cls=SectionedCommand,
    epilog="""\b
Examples:
  stackrace capacity http://127.0.0.1:8000/ --p99 50ms
  stackrace capacity http://127.0.0.1:8000/ http://127.0.0.1:8000/about/ --p50 10ms --p99 100ms -c 20
  stackrace capacity race.toml --stack gunicorn --p99 100ms    a stack of that race, started for it
  stackrace capacity http://127.0.0.1:8000/ --p90 200ms --close --json | jq .capacity_per_s""",
)
@click.argument("words", nargs=-1, metavar="URL... | RACE.toml")
@flags(RACED)
@request_flags(*STARTED_OPTIONS, into="app")
@_limits
@_search(
    "-c", "--concurrency", "concurrency", type=Connections(1_000_000), default=64, metavar="N",
    help="Connections of the closed loop at the start. Default: 64.",
)  # fmt: skip
@_search("--seed", type=click.IntRange(0, 2**64 - 1), metavar="N", help="Seed of the random arrivals. Default: 0.")
@flags(CONNECTIONS, REQUESTS, ANSWERS, ENGINE)
@_show("--json", "as_json", is_flag=True, help="Print one JSON document, no progress.")
@_show(
    "--openmetrics",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="Write OpenMetrics text, for a time-series database.",
)
def command(
    words: tuple[str, ...],
    concurrency: int,
    seed: int | None,
    as_json: bool,
    openmetrics: Path | None,
    app: RequestFlags,
    stack: str | None,
    workload: str | None,
    **given: Any,
) -> None:
    """Find the highest rate at which a server answers fast enough.

    A closed loop shows where to look. Open loops with random arrivals follow, at rates ever closer to the capacity,
    which all of them together tell, with limits. A rate keeps the goal if the latencies do, at most 0.1 % of the
    requests fail, and none pile up.
    """
    from ...api.load.options import LoadOptions
    from ...base.errors import InputError
    from ...cli.load.run import raced_target
    from ...cli.stdio import refuse_unwritable
    from ...measure.engine.load_run import Goal
    from .capacity_report import find_and_show

    limits = {name: limit for name in _QUANTILES if (limit := given.pop(name)) is not None}
    if not limits:
        raise InputError("give a goal for the latency, as in --p99 50ms")
    refuse_unwritable("--openmetrics", openmetrics)
    target, urls = raced_target(words, app, stack=stack, workload=workload)
    find_and_show(
        LoadOptions(urls=urls, **given),
        target,
        Goal(limits),
        connections=concurrency,
        seed=seed or 0,
        as_json=as_json,
        openmetrics=openmetrics,
    )
