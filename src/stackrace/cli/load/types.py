"""Kinds of option values that only ``stackrace load`` has."""

from __future__ import annotations

import click

from ...base.errors import InputError
from ...base.units import DURATION
from ...measure.workload import Nonce, NoncePlace

__all__ = ["NonceType", "ThinkType"]


class NonceType(click.ParamType[Nonce]):
    """``header:NAME`` or ``query:NAME``."""

    name = "header:NAME|query:NAME"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Nonce:
        """Return the nonce's place and name."""
        place, _, name = str(value).partition(":")
        if place not in set(NoncePlace) or not name:
            self.fail(f"{value!r} is no place for a nonce; write header:X-Nonce or query:nonce", param, ctx)
        return Nonce(place=NoncePlace(place), name=name)


class ThinkType(click.ParamType[float | str]):
    """``none``, ``recorded``, or seconds."""

    name = "none|recorded|TIME"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        """Return the word, or the pause in seconds."""
        if value in ("none", "recorded"):
            return str(value)
        try:
            return DURATION.parse(str(value))
        except InputError:
            self.fail(f"{value!r} is no pause; write none, recorded, or a time like {DURATION.example}", param, ctx)
