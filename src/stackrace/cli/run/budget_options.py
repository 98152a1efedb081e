"""The options of ``stackrace run`` that say what every stack gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click

from ...model.core_lists import parse_cores
from ...model.errors import InputError
from ...model.units import SIZE
from ...spec.request import RaceRequest
from ..options import Quantity

__all__ = ["apply_budget_options", "budget_options"]


class _Cores(click.ParamType[tuple[int, ...]]):
    """A list of cores with ranges."""

    name = "cores"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Return the cores, ascending."""
        if isinstance(value, tuple):
            return value
        try:
            return parse_cores(str(value))
        except InputError as error:
            self.fail(error.message, param, ctx)


_OPTIONS = (
    click.option(
        "--cores",
        type=_Cores(),
        metavar="LIST",
        help="Cores of every stack, such as 0-3 or 0,2. Default: all but the load engine's.",
    ),
    click.option(
        "--engine-cores",
        type=_Cores(),
        metavar="LIST",
        help="Cores of the load engine. Default: one, with all its threads.",
    ),
    click.option(
        "--memory",
        type=Quantity(SIZE),
        metavar="SIZE",
        help="Memory limit of every stack, such as 512MiB or 2GiB. A stack above it is out. Default: no limit.",
    ),
    click.option(
        "--quota",
        is_flag=True,
        help="The CPU quota of this container is intended: its throttling only gives a warning.",
    ),
)


def budget_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options; the command gets what they say, None (``quota``: False) where they say nothing."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def apply_budget_options(
    request: RaceRequest,
    *,
    cores: tuple[int, ...] | None,
    engine_cores: tuple[int, ...] | None,
    memory: float | None,
    quota: bool,
) -> RaceRequest:
    """Return ``request`` with what the flags say on top."""
    return replace(
        request,
        cores=cores or request.cores,
        engine_cores=engine_cores or request.engine_cores,
        memory_bytes=request.memory_bytes if memory is None else int(memory),
        quota=quota or request.quota,
    )
