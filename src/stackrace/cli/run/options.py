"""The options of ``stackrace run`` that say what is replayed, and how runs are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from ...model.errors import InputError
from ...model.units import DURATION
from ...spec.request import RaceRequest
from ..options import Quantity

__all__ = ["RunOptions", "run_options"]

_OPTIONS = (
    click.option(
        "--session",
        metavar="FILE",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="Replay a HAR file or an access log instead of URLs. Each connection is a visitor.",
    ),
    click.option("--think", is_flag=True, help="Keep the pauses of --session. Default: leave them out."),
    click.option(
        "--requests",
        metavar="N",
        type=click.IntRange(1),
        help="Length of a run in requests, with --repeats.",
    ),
    click.option("--duration", type=Quantity(DURATION), help="Length of a run in time (10s), with --repeats."),
    click.option(
        "--repeats",
        metavar="N",
        type=click.IntRange(1),
        help="Make N cold runs of each stack at each level, each on a fresh launch, as published comparisons did. "
        "Default: warm slices, as many as the budget holds.",
    ),
    click.option(
        "--no-twin",
        is_flag=True,
        help="No hidden twin. Default: one stack runs twice, and the race is void if the two differ.",
    ),
)


def run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options; the command gets them as keywords named like the fields of ``RunOptions``."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What the flags say; None and False: nothing."""

    session: Path | None = None
    think: bool = False
    requests: int | None = None
    duration: float | None = None
    repeats: int | None = None
    no_twin: bool = False

    def over(self, request: RaceRequest, urls: tuple[str, ...]) -> RaceRequest:
        """Return ``request`` with the flags on top, ``urls`` being those of --url.

        What flags say replaces what the file says of the same. Raises InputError for flags that contradict.
        """
        request = self._lengths(self._workload(request, urls))
        return replace(request, twin=request.twin and not self.no_twin)

    def _workload(self, request: RaceRequest, urls: tuple[str, ...]) -> RaceRequest:
        if self.session is not None and urls:
            raise InputError("give --session or --url, not both")
        if self.session is not None:
            request = replace(request, session=self.session.absolute(), urls=None, workloads=(), think=False)
        elif urls:
            request = replace(request, session=None, workloads=(), think=False)
        if self.think and request.session is None:
            raise InputError("--think keeps the pauses of a recording; give it with --session")
        return replace(request, think=request.think or self.think)

    def _lengths(self, request: RaceRequest) -> RaceRequest:
        if self.requests is not None and self.duration is not None:
            raise InputError("give --requests or --duration, not both")
        if self.requests is not None or self.duration is not None:
            request = replace(request, run_requests=self.requests, run_requests_at={}, run_s=self.duration)
        request = replace(request, repeats=self.repeats or request.repeats)
        known = request.run_requests is not None or request.run_requests_at or request.run_s is not None
        if known and request.repeats is None:
            raise InputError(
                "--requests and --duration set the length of a run; give the number of runs with --repeats"
            )
        if request.repeats is not None and not known:
            raise InputError("--repeats needs the length of a run; give --requests or --duration")
        if request.repeats is not None and request.slice_s is not None:
            raise InputError("--repeats makes runs, not slices; leave --slice out")
        return request
