"""The options of ``stackrace run`` that say what every stack gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import click

from ...model.core_lists import parse_cores
from ...model.errors import InputError
from ...model.units import SIZE
from ...spec.request import RaceRequest
from ..options import Quantity

__all__ = ["BudgetOptions", "budget_options"]


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
    """Add the options; see ``BudgetOptions``."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetOptions:
    """What the flags say; None and False: nothing."""

    cores: tuple[int, ...] | None = None
    engine_cores: tuple[int, ...] | None = None
    memory: float | None = None
    quota: bool = False

    def over(self, request: RaceRequest) -> RaceRequest:
        """Return ``request`` with the flags on top."""
        return replace(
            request,
            cores=self.cores or request.cores,
            engine_cores=self.engine_cores or request.engine_cores,
            memory_bytes=request.memory_bytes if self.memory is None else int(self.memory),
            quota=self.quota or request.quota,
        )
