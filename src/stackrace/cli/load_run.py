"""One run of the engine from the command line, with a line of progress."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

import click

from ..load.engine import Monitor, run
from ..load.url import parse
from ..model.errors import InputError
from ..model.load import Load, LoadResult
from ..model.race import Budget
from ..model.workload import Request, Workload
from .preflight import check_limits
from .stage import split_cores, usable_cores

__all__ = ["Target", "parse_targets", "run_with_progress"]

REFRESH_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where the load goes, and what is asked."""

    urls: tuple[str, ...]
    address: tuple[str, int]
    workload: Workload


def parse_targets(
    urls: Sequence[str], headers: Sequence[str], method: str, host: str | None, target_is_mine: bool
) -> Target:
    """Return what to load; raises InputError for what is no URL, is another machine, or spans two servers."""
    parsed = [parse(url, target_is_mine=target_is_mine) for url in urls]
    if len({url.address for url in parsed}) > 1:
        raise InputError("the URLs lead to different servers; load one server at a time")
    pairs = tuple(_header(text) for text in headers)
    requests = tuple(Request(path=url.path, method=method, headers=pairs) for url in parsed)
    workload = Workload(requests=requests, answers=(), host=host or parsed[0].host)
    return Target(urls=tuple(urls), address=parsed[0].address, workload=workload)


def run_with_progress(target: Target, load: Load, *, quiet: bool) -> LoadResult:
    """Run the engine in a thread of its own; Ctrl-C ends the run and keeps what was measured."""
    cores = split_cores(usable_cores())
    check_limits((load,), cores)
    monitor = Monitor()
    outcome: list[LoadResult | BaseException] = []
    thread = threading.Thread(target=_into, args=(outcome, target, load, cores, monitor))
    began = time.monotonic()
    thread.start()
    draw = sys.stderr.isatty() and not quiet
    while thread.is_alive():
        try:
            thread.join(REFRESH_S)
            if draw:
                _draw(monitor, load, time.monotonic() - began)
        except KeyboardInterrupt:
            monitor.cancel()
    if draw:
        click.echo("\r\x1b[K", nl=False, err=True)
    result = outcome[0]
    if isinstance(result, BaseException):
        raise result
    return result


def _into(
    outcome: list[LoadResult | BaseException], target: Target, load: Load, cores: Budget, monitor: Monitor
) -> None:
    try:
        outcome.append(
            run(
                address=target.address,
                workload=target.workload,
                load=load,
                cores=cores.generator_cores,
                monitor=monitor,
            )
        )
    except BaseException as error:
        outcome.append(error)


def _draw(monitor: Monitor, load: Load, elapsed_s: float) -> None:
    ok, wrong, _ = monitor.snapshot()
    rate = ok / elapsed_s if elapsed_s else 0.0
    if load.duration_s is not None:
        left = f"{max(load.duration_s - elapsed_s, 0):.0f} s left"
    else:
        left = f"{ok} of {load.requests}"
    errors = f", {wrong} errors" if wrong else ""
    click.echo(f"\r\x1b[K{rate:,.0f}/s{errors}, {left}", nl=False, err=True)


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise InputError(f"--header {text!r} is no header; write it like 'Accept: text/html'")
    return name.strip(), value.strip()
