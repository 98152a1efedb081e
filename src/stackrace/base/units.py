"""One table that both parses and formats quantities: "200ms", "1.5k/s", "512MiB", "5%"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from .errors import InputError

_NUMBER = re.compile(r"\s*(\d++(?:\.\d++)?)\s*+([a-zA-Zµ%/]*)\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """Spellings of a quantity."""

    name: str
    suffixes: Mapping[str, float]
    """Factor of each suffix in the base unit, ascending; the first spelling of a factor is printed."""
    example: str
    """Example shown if parsing fails."""
    also: Mapping[str, float] = field(default_factory=dict)
    """Spellings that are accepted and never printed."""

    def parse(self, text: str) -> float:
        """Return ``text`` in the base unit; raises InputError with an example of a right spelling."""
        match = _NUMBER.fullmatch(text)
        factors = {**self.suffixes, **self.also}
        if match is None or match[2] not in factors:
            raise InputError(f"{text!r} is not a {self.name}; write it like {self.example}")
        return float(match[1]) * factors[match[2]]

    def format(self, value: float) -> str:
        """Return ``value`` (base unit) in three digits, with the largest suffix that keeps it at or above one."""
        suffix, factor = self._best(value)
        return f"{_three_digits(value / factor)}{self._gap(suffix)}{suffix}"

    def _best(self, value: float) -> tuple[str, float]:
        printed: dict[float, str] = {}
        for suffix, factor in self.suffixes.items():
            printed.setdefault(factor, suffix)
        fitting = [(factor, suffix) for factor, suffix in printed.items() if factor <= abs(value)]
        factor, suffix = max(fitting) if fitting else min(printed.items()) if value else (1.0, printed.get(1.0, ""))
        return suffix, factor

    @staticmethod
    def _gap(suffix: str) -> str:
        return " " if suffix[:1].isalpha() or suffix[:1] == "µ" else ""


def _three_digits(value: float) -> str:
    if value >= 100 or value == int(value):
        return f"{value:.0f}"
    return f"{Decimal(f'{value:.3g}'):f}"


DURATION = Unit(
    name="duration",
    suffixes={
        "ns": 1e-9, "µs": 1e-6, "us": 1e-6, "ms": 1e-3, "s": 1.0, "": 1.0,
        "min": 60.0, "m": 60.0, "h": 3600.0,
    },
    example="200ms, 5s or 20min",
)  # fmt: skip
"""Unit of time; the base is a second."""

RATE = Unit(
    name="rate",
    suffixes={"/s": 1.0, "": 1.0, "k/s": 1e3, "M/s": 1e6},
    example="200/s, 1.5k/s or 12k/min",
    also={"/h": 1 / 3600, "/min": 1 / 60, "k/min": 1e3 / 60, "k": 1e3},
)
"""Unit of rates; the base is one event per second."""

SIZE = Unit(
    name="size",
    suffixes={"B": 1.0, "": 1.0, "KiB": 1024.0, "MiB": 1024.0**2, "GiB": 1024.0**3},
    example="512MiB or 2GiB",
    also={"kB": 1e3, "MB": 1e6, "GB": 1e9},
)
"""Unit of sizes; the base is a byte."""

COUNT = Unit(name="count", suffixes={"": 1.0, "k": 1e3, "M": 1e6}, example="5000 or 10k")
"""Unit of plain numbers of things."""

PERCENT = Unit(name="percentage", suffixes={"%": 0.01, "": 1.0}, example="5% or 0.05")
"""Unit of shares; the base is a fraction of one."""
