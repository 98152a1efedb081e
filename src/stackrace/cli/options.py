"""Options that several verbs have, and the kinds of values they take."""

from __future__ import annotations

import click

from ..base.errors import InputError
from ..base.http_syntax import host_fault
from ..base.units import Unit
from ..measure.resources import parse_cores

__all__ = ["Connections", "Cores", "Quantity", "details_option", "right_host", "store_option"]


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


class Connections(click.IntRange):
    """A number of connections; several are several options."""

    def __init__(self, most: int, *, levels: bool = False) -> None:
        super().__init__(1, most)
        self._levels = levels
        """Whether the verb takes several."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number; a list is refused with what to write."""
        parts = [part.strip() for part in str(value).split(",")]
        if len(parts) < 2 or not all(part.isdecimal() for part in parts):
            number: int = super().convert(value, param, ctx)  # type: ignore[arg-type]
            return number
        all_ = " ".join(f"-c {part}" for part in parts)
        way_out = f"write {all_}" if self._levels else f"give one, as in -c {parts[0]}; a race takes {all_}"
        raise click.BadParameter(f"{value!r} is a list; {way_out}", ctx, param)


class Cores(click.ParamType[tuple[int, ...]]):
    """A list of cores with ranges: 0-3 or 0,2."""

    name = "cores"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Return the cores, ascending."""
        try:
            return parse_cores(str(value))
        except InputError as error:
            self.fail(error.message, param, ctx)


def right_host(context: click.Context, option: click.Parameter, host: str | None) -> str | None:
    """Refuse a Host header that would be more than one line, or none."""
    if host is not None and (fault := host_fault(host)):
        raise click.BadParameter(fault, context, option)
    return host


store_option = click.option(
    "--store",
    metavar="URL",
    envvar="STACKRACE_STORE",
    help="Where results are kept: sqlite:///PATH or postgresql://…  Default: $STACKRACE_STORE, "
    "or SQLite in the XDG data folder.",
)

details_option = click.option(
    "--details",
    is_flag=True,
    help="Print all there is to say: every level, check and remedy. Default: what fits on one screen.",
)
