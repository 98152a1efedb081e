"""``stackrace load``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ...base.units import COUNT, DURATION, RATE
from ..options import Connections, Quantity, SectionedCommand, schema_option, section
from ..request_flags import STARTED_OPTIONS, RequestFlags, request_flags
from .flags import ANSWERS, CONNECTIONS, ENGINE, FILE, RACED, REQUESTS, ThinkType, flags

_load = section("How much")
_ask = section("Requests")
_show = section("Output")


@click.command(
    cls=SectionedCommand,
    epilog="""\b
Examples:
  stackrace load http://127.0.0.1:8000/ -c 100 -d 5s
  stackrace load http://127.0.0.1:8000/ http://127.0.0.1:8000/about/ -n 5000
  stackrace load https://localhost:8443/ --rate 200/s --poisson -d 30s --insecure
  stackrace load http://127.0.0.1:8000/items/ --data @item.json -H 'Content-Type: application/json'
  stackrace load http://127.0.0.1:8000/ --session visit.har --cookies -c 20 -d 1min
  stackrace load race.toml --stack gunicorn -c 20    a stack of that race, started for it
  stackrace load --stack gunicorn --wsgi shop:app --url /items/ -c 20
  stackrace load http://127.0.0.1:8000/ race.toml    a server that runs, asked what the race asks
  stackrace load http://127.0.0.1:8000/ -c 20 --close --json > before.json""",
)
@click.argument("words", nargs=-1, metavar="URL... | RACE.toml")
@flags(RACED)
@request_flags(*STARTED_OPTIONS, into="app")
@_load(
    "-c", "--concurrency", "--connections", "concurrency",
    type=Connections(1_000_000), metavar="N",
    help="Connections. With --rate: at most so many. Default: 10, or 1000 with --rate.",
)  # fmt: skip
@_load(
    "-d",
    "--duration",
    type=Quantity(DURATION),
    metavar="TIME",
    help="How long, such as 5s. Default: 10s, without -n.",
)
@_load("-n", "--requests", type=Quantity(COUNT), metavar="N", help="How many requests, such as 5000 or 10k.")
@_load(
    "--rate", type=Quantity(RATE), metavar="RATE",
    help="Send requests (or sessions) at this rate, such as 200/s or 12k/min, whatever the server does. "
    "Default: each connection sends its next request after the last answer.",
)  # fmt: skip
@_load("--poisson", is_flag=True, help="With --rate: send at random moments, like real visitors.")
@_load("--seed", type=click.IntRange(0, 2**64 - 1), metavar="N", help="Seed of --poisson. Default: 0.")
@_load(
    "--warmup", type=Quantity(DURATION), metavar="TIME", help="How long to load before recording. Default: none."
)
@flags(CONNECTIONS, REQUESTS)
@_ask(
    "--session", type=FILE, metavar="FILE",
    help="Replay a HAR file or an access log. The URL then only names the server.",
)  # fmt: skip
@_ask(
    "--think",
    type=ThinkType(),
    metavar="none|recorded|TIME",
    help="Pauses between the pages of --session. Default: recorded.",
)
@_ask(
    "--cookies",
    is_flag=True,
    help="Each connection is a visitor: it plays all URLs in order and returns cookies.",
)
@flags(ANSWERS, ENGINE)
@_show("--json", "as_json", is_flag=True, help="Print one JSON document (schema: --schema), no progress.")
@_show("--hdr", type=FILE, metavar="FILE", help="Write the latencies for HdrHistogram's plotters (.hgrm).")
@schema_option("stackrace.report.load_result:schema", _show)
def command(
    words: tuple[str, ...],
    as_json: bool,
    hdr: Path | None,
    app: RequestFlags,
    stack: str | None,
    workload: str | None,
    **given: Any,
) -> None:
    """Load one server and report what came back.

    The server runs at URL, or is a stack of RACE.toml or of the project in this folder that is started for it.

    Default is a closed loop: each connection sends its next request when the last is answered. With --rate it is an
    open loop. Several URLs of one server are sent in turn. "≥" marks a lower bound: some requests were unanswered
    at the end.
    """
    from ...api.load.options import LoadOptions
    from .run import raced_target, run_and_show

    target, urls = raced_target(words, app, stack=stack, workload=workload, session=given["session"] is not None)
    run_and_show(LoadOptions(urls=urls, **given), target, as_json=as_json, hdr=hdr)
