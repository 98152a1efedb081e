"""Flags of the verbs that load one server, ``load`` and ``capacity``, in groups, with the types of their values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ...base.errors import InputError
from ...base.units import DURATION, SIZE
from ...measure.workload import Nonce, NoncePlace
from ..options import Quantity, complete_stack, held_options, right_host, section


class _NonceType(click.ParamType[Nonce]):
    """Type of ``header:NAME`` or ``query:NAME``."""

    name = "header:NAME|query:NAME"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Nonce:
        """Return the nonce's place and name."""
        place, _, name = str(value).partition(":")
        if place not in set(NoncePlace) or not name:
            self.fail(f"{value!r} is no place for a nonce; write header:X-Nonce or query:nonce", param, ctx)
        return Nonce(place=NoncePlace(place), name=name)


class ThinkType(click.ParamType[float | str]):
    """Type of ``none``, ``recorded``, or seconds."""

    name = "none|recorded|TIME"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        """Return the word, or the pause in seconds."""
        if value in ("none", "recorded"):
            return str(value)
        try:
            return DURATION.parse(str(value))
        except InputError:
            self.fail(f"{value!r} is no pause; write none, recorded, or a time like {DURATION.example}", param, ctx)


FILE = click.Path(path_type=Path, dir_okay=False)
_raced = section("A stack instead of a URL")
_wire = section("Connections")
_ask = section("Requests")
_expect = section("Answers")
_loops = section("Engine")

CONNECTIONS = (
    _wire("--close", is_flag=True, help="Open a new connection for every request (no keep-alive)."),
    _wire(
        "--requests-per-connection",
        type=click.IntRange(1, 2**32 - 1),
        metavar="N",
        help="Open a new connection after N requests. Default: when the server closes it.",
    ),
    *held_options(_wire),
    _wire(
        "--timeout",
        type=Quantity(DURATION),
        metavar="TIME",
        help="Give up on a request after this. Default: 10s.",
    ),
    _wire(
        "--connect-timeout",
        type=Quantity(DURATION),
        metavar="TIME",
        help="Give up opening a connection after this. Default: --timeout.",
    ),
    _wire("--unix-socket", metavar="PATH", help="Connect to this socket. The URL then only gives host and path."),
    _wire("--insecure", is_flag=True, help="https: accept any certificate."),
    _wire(
        "--cacert", type=FILE, metavar="FILE", help="https: trust these certificates (PEM). Default: the system's."
    ),
    _wire("--tls", type=click.Choice(["1.2", "1.3"]), help="https: only this version. Default: either."),
)

RACED = (
    _raced(
        "--stack",
        metavar="PATH",
        shell_complete=complete_stack,
        help="Start this stack, as a race would, and load it. Default: the race file's, if it names only one.",
    ),
    _raced("--workload", metavar="NAME", help="Which [workloads.NAME] of the race file. Default: its only one."),
)

REQUESTS = (
    _ask("--method", metavar="NAME", help="Request method. Default: GET, or POST with --data."),
    _ask(
        "-H",
        "--header",
        "headers",
        multiple=True,
        metavar="NAME: VALUE",
        help="Header to send; repeat for more.",
    ),
    _ask("--host", metavar="NAME", callback=right_host, help="Host header. Default: the URL's."),
    _ask("--data", metavar="TEXT|@FILE", help="Body to send."),
    _ask(
        "--chunked",
        type=Quantity(SIZE),
        is_flag=False,
        flag_value=4096.0,
        metavar="[SIZE]",
        help="Send the body in chunks of this size (4KiB). Write it after the URLs.",
    ),
    _ask("--expect-continue", is_flag=True, help="Send the body when the server asks for it."),
    _ask(
        "--nonce",
        type=_NonceType(),
        metavar="header:NAME|query:NAME",
        help="Send a unique number with each request. The answer must repeat it.",
    ),
)

ANSWERS = (
    _expect(
        "--expect-status", type=click.IntRange(100, 599), metavar="N", help="The right status. Default: any 2xx."
    ),
    _expect("--expect-text", metavar="TEXT", help="Text that the right body contains."),
    _expect("--expect-body", type=FILE, metavar="FILE", help="The right body. Every byte is compared."),
    _expect(
        "--mask",
        "masks",
        multiple=True,
        metavar="REGEX",
        help="Text in --expect-body that may differ. Repeat it for more.",
    ),
    _expect(
        "--max-body",
        type=Quantity(SIZE),
        metavar="SIZE",
        help="Give up on a longer answer. Default: 256MiB.",
    ),
)

ENGINE = (
    _loops("--threads", type=click.IntRange(1, 1024), metavar="N", help="Event loops, one core each. Default: 1."),
    _loops("--spin", is_flag=True, help="Never sleep. Sees answers at once, but uses its cores fully."),
    _loops("--no-ceiling", is_flag=True, help="Do not measure first what the engine can do here (0.3 s)."),
    _loops("--target-is-mine", is_flag=True, help="Allow another machine as the target."),
)


def flags(*groups: tuple[Callable[..., Any], ...]) -> Callable[..., Callable[..., Any]]:
    """Return the decorator that adds all flags of ``groups`` to a command, in that order."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed([option for group in groups for option in group]):
            function = option(function)
        return function

    return add
