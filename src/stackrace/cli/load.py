"""``stackrace load``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..model.units import COUNT, DURATION, RATE, SIZE
from .load_types import NonceType, ThinkType
from .options import Quantity
from .sections import SectionedCommand, section

__all__ = ["command"]

_FILE = click.Path(path_type=Path, dir_okay=False)
_load = section("How much")
_wire = section("Connections")
_ask = section("Requests")
_expect = section("Answers")
_loops = section("Engine")
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
  stackrace load http://127.0.0.1:8000/ -c 20 --close --json > before.json""",
)
@click.argument("urls", nargs=-1, metavar="URL...")
@_load(
    "-c", "--concurrency", "--connections", "concurrency",
    type=click.IntRange(1, 1_000_000), metavar="N",
    help="Connections; with --rate the most there may be. Default: 10, with --rate 1000.",
)  # fmt: skip
@_load(
    "-d",
    "--duration",
    type=Quantity(DURATION),
    metavar="TIME",
    help="How long, as in 5s. Default: 10s, unless -n is given.",
)
@_load("-n", "--requests", type=Quantity(COUNT), metavar="N", help="How many requests, as in 5000 or 10k.")
@_load(
    "--rate", type=Quantity(RATE), metavar="RATE",
    help="Requests (or sessions) fall due at this rate whatever the server does, as in 200/s or 12k/min. "
    "Default: each connection sends the next when the last is answered.",
)  # fmt: skip
@_load("--poisson", is_flag=True, help="With --rate: at random moments, as real visitors come.")
@_load("--seed", type=click.IntRange(0, 2**64 - 1), metavar="N", help="Of --poisson. Default: 0.")
@_load(
    "--warmup", type=Quantity(DURATION), metavar="TIME", help="Load for so long before recording. Default: none."
)
@_wire("--close", is_flag=True, help="Open a new connection for every request (no keep-alive).")
@_wire(
    "--requests-per-connection", type=click.IntRange(1, 2**32 - 1), metavar="N",
    help="Open a new one after N requests. Default: as the server likes.",
)  # fmt: skip
@_wire(
    "--timeout",
    default=10.0,
    type=Quantity(DURATION),
    metavar="TIME",
    help="Give up on a request after this. Default: 10s.",
)
@_wire(
    "--connect-timeout",
    type=Quantity(DURATION),
    metavar="TIME",
    help="Give up opening a connection after this. Default: --timeout.",
)
@_wire("--unix-socket", metavar="PATH", help="Connect to this socket; the URL then only says what to ask for.")
@_wire("--insecure", is_flag=True, help="https: accept any certificate.")
@_wire("--cacert", type=_FILE, metavar="FILE", help="https: trust these (PEM). Default: the system's authorities.")
@_wire("--tls", type=click.Choice(["1.2", "1.3"]), help="https: only this version. Default: either.")
@_ask("--method", metavar="NAME", help="Default: GET, with --data POST.")
@_ask("-H", "--header", "headers", multiple=True, metavar="NAME: VALUE", help="Header to send, again for more.")
@_ask("--host", metavar="NAME", help="Host header. Default: the URL's.")
@_ask("--data", metavar="TEXT|@FILE", help="Body to send.")
@_ask(
    "--chunked", type=Quantity(SIZE), is_flag=False, flag_value=4096.0, metavar="[SIZE]",
    help="Send the body in chunks, of 4KiB unless told; give it after the URLs.",
)  # fmt: skip
@_ask("--expect-continue", is_flag=True, help="Send the body once the server asks for it.")
@_ask(
    "--session", type=_FILE, metavar="FILE",
    help="Play a recording, HAR or access log; a URL then only names the server.",
)  # fmt: skip
@_ask(
    "--think",
    type=ThinkType(),
    metavar="none|recorded|TIME",
    help="Pauses between the pages of --session. Default: recorded.",
)
@_ask("--cookies", is_flag=True, help="Each connection is a visitor: plays all URLs in order, returns its cookies.")
@_ask(
    "--nonce",
    type=NonceType(),
    metavar="header:NAME|query:NAME",
    help="Send a number of its own with each request; its answer must repeat it.",
)
@_expect("--expect-status", type=click.IntRange(100, 599), metavar="N", help="The right status. Default: any 2xx.")
@_expect("--expect-body", type=_FILE, metavar="FILE", help="The right body, byte by byte.")
@_expect(
    "--mask", "masks", multiple=True, metavar="REGEX",
    help="What this matches in --expect-body may differ, again for more.",
)  # fmt: skip
@_expect(
    "--max-body",
    type=Quantity(SIZE),
    metavar="SIZE",
    help="Give up on an answer that grows beyond this. Default: 256MiB.",
)
@_loops("--threads", type=click.IntRange(1, 1024), metavar="N", help="Event loops, each on a core. Default: 1.")
@_loops("--spin", is_flag=True, help="Never sleep: sees answers when they come, and takes its cores whole.")
@_loops("--no-ceiling", is_flag=True, help="Do not measure first what the engine itself can do here (0.3 s).")
@_loops("--target-is-mine", is_flag=True, help="Allow a target that is not this machine.")
@_show("--json", "as_json", is_flag=True, help="Print one JSON document (schema: --schema), no progress.")
@_show("--hdr", type=_FILE, metavar="FILE", help="Write the latencies for HdrHistogram's plotters (.hgrm).")
@_show("--schema", is_flag=True, help="Print the JSON document's schema.")
def command(schema: bool, **given: Any) -> None:
    """Load one server, and tell what came back.

    A closed loop by default: each connection sends its next request when the last is answered. With --rate an open
    one. Several URLs of one server are sent in turn. Nothing is dropped: a quantile that requests unanswered at the
    end may raise prints "≥".
    """
    if schema:
        from ..load.document import SCHEMA

        click.echo(SCHEMA.read_text(encoding="utf-8"), nl=False)
        return
    from .load_options import LoadOptions
    from .load_run import run_and_show

    run_and_show(LoadOptions(**given))
