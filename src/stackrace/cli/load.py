"""``stackrace load``."""

from __future__ import annotations

import click

from ..model.units import COUNT, DURATION
from .options import Quantity

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  stackrace load http://127.0.0.1:8000/ -c 100 -d 5s
  stackrace load http://127.0.0.1:8000/ http://127.0.0.1:8000/about/ -n 5000
  stackrace load http://localhost:8000/ -c 20 -d 10s --close --json | jq .throughput_per_s"""
)
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option("-c", "--concurrency", default=10, type=click.IntRange(1, 20_000), help="Connections. Default: 10.")
@click.option(
    "-d", "--duration", type=Quantity(DURATION), help="How long, as in 5s. Default: 10s, unless -n is given."
)
@click.option("-n", "--requests", type=Quantity(COUNT), help="How many requests, as in 5000 or 10k.")
@click.option("--close", is_flag=True, help="Open a new connection for every request (no keep-alive).")
@click.option(
    "--timeout", default=10.0, type=Quantity(DURATION), help="Give up on a request after this. Default: 10s."
)
@click.option(
    "-H", "--header", "headers", multiple=True, metavar="NAME: VALUE", help="Header to send, again for more."
)
@click.option("--method", default="GET", metavar="NAME", help="Request method. Default: GET.")
@click.option("--host", metavar="NAME", help="Host header. Default: the URL's.")
@click.option("--target-is-mine", is_flag=True, help="Allow a target that is not this machine.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document; progress goes to stderr.")
def command(
    urls: tuple[str, ...],
    concurrency: int,
    duration: float | None,
    requests: float | None,
    close: bool,
    timeout: float,
    headers: tuple[str, ...],
    method: str,
    host: str | None,
    target_is_mine: bool,
    as_json: bool,
) -> None:
    """Load URL with a closed loop: each connection sends its next request when the last is answered.

    Several URLs of one server are sent in turn. Requests that are unanswered at the end are not dropped: a
    quantile that they reach prints "≥".
    """
    from ..model.errors import InputError
    from ..model.load import Load
    from .load_run import parse_targets, run_with_progress
    from .load_show import document, show

    if duration is not None and requests is not None:
        raise InputError("give -d/--duration or -n/--requests, not both: one of them ends the run")
    load = Load(
        concurrency=concurrency,
        keep_alive=not close,
        duration_s=None if requests is not None else duration or 10.0,
        requests=int(requests) if requests is not None else None,
        timeout_s=timeout,
    )
    target = parse_targets(urls, headers, method.upper(), host, target_is_mine)
    result = run_with_progress(target, load, quiet=as_json)
    if as_json:
        click.echo(document(target, load, result), nl=False)
    else:
        show(target, load, result)
