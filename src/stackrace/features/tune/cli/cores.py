"""How many cores, or which."""

from __future__ import annotations

import click

from ....cli.options import Cores

__all__ = ["CoreCount"]


class CoreCount(click.ParamType[int | tuple[int, ...]]):
    """A plain number is how many cores; a list (0-1 or 0,2) says which."""

    name = "cores"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | tuple[int, ...]:
        """Return the number, or the list."""
        text = str(value).strip()
        if text.isdecimal():
            if not 1 <= int(text) <= 4096:
                self.fail(f"{text} is out of range; give how many cores, at least 1, or which (0-1)", param, ctx)
            return int(text)
        return Cores().convert(text, param, ctx)
