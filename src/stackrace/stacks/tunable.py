"""What may be tuned of a setting: which values are tried, and when they mean anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_WIDER = 2
"""So many values beyond the largest that is tried are tried, too, where that one is the best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """What a server's own documentation advises: ``per_core`` times the cores plus ``plus``."""

    per_core: int
    plus: int = 0
    source: str = ""
    """Where it says so."""

    def value(self, cores: int) -> int:
        """Return what it gives on so many cores."""
        return self.per_core * cores + self.plus

    def __str__(self) -> str:
        """Return it as people write it: ``2n + 1``."""
        times = "n" if self.per_core == 1 else f"{self.per_core}n"
        return f"{times} + {self.plus}" if self.plus else times


@dataclass(frozen=True, slots=True, kw_only=True)
class Tunable:
    """What is tried of one setting: the ``values``, or ``steps`` whole numbers from ``least`` to the most.

    Each is about as many times the one before: two workers more matter less to twenty than to two.
    """

    values: tuple[str | int | bool, ...] = ()
    """All that is tried of a setting that is no number, or of one whose values are few."""
    least: int = 1
    most: int = 0
    """The largest number tried."""
    per_core: int = 0
    """The largest for each core, where it grows with them; ``most`` then bounds it, unless that is 0."""
    steps: int = 6
    """How many numbers are tried at most, 2 or more."""
    only: Mapping[str, tuple[str | int | bool, ...]] = field(default_factory=dict)
    """The values of other settings of the server beside which it is tried, where it always does something."""
    multiplies: bool = False
    """Whether each process works on so many requests at once: times the processes, that is what a database sees."""
    formula: Formula | None = None
    """What its documentation advises."""
    memory_only: bool = False
    """Whether it can only save memory, so that no other goal tries it."""

    def tried(self, cores: int) -> tuple[str | int | bool, ...]:
        """Return the values to try on so many ``cores``, ascending where they are numbers.

        >>> Tunable(per_core=8).tried(2)
        (1, 2, 3, 5, 9, 16)
        """
        if self.values:
            return self.values
        most = self.per_core * cores if self.per_core else self.most
        if self.per_core and self.most:
            most = min(most, self.most)
        most = max(most, self.least)
        shares = (step / max(self.steps - 1, 1) for step in range(self.steps))
        return tuple(dict.fromkeys(round(float(self.least * (most / self.least) ** share)) for share in shares))

    def beyond(self, cores: int, least: int, most: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the numbers from ``least`` to ``most`` to go on with below and above those tried, ascending.

        Above they grow as the last two do, below they halve.

        >>> Tunable(per_core=8, least=4).beyond(2, 1, 256)
        ((1, 2), (22, 30))
        """
        tried = [value for value in self.tried(cores) if not isinstance(value, str | bool)]
        if self.values or len(tried) < 2:
            return (), ()
        growth = max(tried[-1] / tried[-2], 1.25)
        above = [min(round(tried[-1] * growth**step), most) for step in range(1, _WIDER + 1)]
        below: list[int] = []
        # zero often means that the server decides
        while (half := (below or tried)[0] // 2) >= max(least, 1):
            below.insert(0, half)
        return tuple(below), tuple(dict.fromkeys(value for value in above if value > tried[-1]))

    def applies(self, settings: Mapping[str, object]) -> bool:
        """Tell whether it is tried beside these ``settings`` of its server."""
        return all(settings.get(name) in values for name, values in self.only.items())
