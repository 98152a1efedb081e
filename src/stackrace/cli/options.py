"""Options that several verbs have, and the kinds of values they take."""

from __future__ import annotations

import click

from ..model.core_lists import parse_cores
from ..model.errors import InputError
from ..model.units import Unit

__all__ = ["Cores", "Quantity", "store_option"]


class Quantity(click.ParamType[float]):
    """A number with its unit: 90s, 20min, 5%."""

    def __init__(self, unit: Unit, *, most: float = float("inf")) -> None:
        self.unit = unit
        self.name = unit.name
        self._most = most

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the base unit's value; must be above zero."""
        if isinstance(value, float):
            return value
        try:
            number = self.unit.parse(str(value))
        except InputError as error:
            self.fail(error.message, param, ctx)
        if not 0 < number < self._most:
            self.fail(f"{value!r} is out of range; write it like {self.unit.example}", param, ctx)
        return number


class Cores(click.ParamType[tuple[int, ...]]):
    """A list of cores with ranges: 0-3 or 0,2."""

    name = "cores"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Return the cores, ascending."""
        try:
            return parse_cores(str(value))
        except InputError as error:
            self.fail(error.message, param, ctx)


store_option = click.option(
    "--store",
    metavar="URL",
    envvar="STACKRACE_STORE",
    help="Where results are kept: sqlite:///PATH or postgresql://…  Default: $STACKRACE_STORE, "
    "or SQLite in the XDG data folder.",
)
