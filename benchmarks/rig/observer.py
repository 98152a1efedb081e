"""The perfect observer: somebody who comes at a fixed rate, whatever happens, and times every single wait.

For a stall of known length what he sees can be computed: no run, no clock.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .quantiles import of_sorted


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """Quantiles in seconds; ``bounds`` names those that are at least that, as some waits had not ended."""

    p50: float
    p99: float
    max: float
    unfinished: int
    bounds: frozenset[str]


def observe(
    *, rate_per_s: float, seconds: float, service_s: float, after_s: float, stall_s: float | None
) -> Observed:
    """Come every 1 / ``rate_per_s`` for ``seconds`` to a server that stalls ``after_s`` from the start.

    What is due during the stall is answered at its end, or never when ``stall_s`` is None. Whoever still waits when
    the run ends has waited at least until then: that makes a lower bound of every quantile that would move if all
    those waits were infinite.
    """
    end_s = math.inf if stall_s is None else after_s + stall_s
    waits, hopeless = [], []
    for number in range(int(rate_per_s * seconds)):
        came_s = number / rate_per_s
        gone_s = came_s + service_s
        if after_s <= gone_s < end_s:
            gone_s = end_s
        waits.append(min(gone_s, seconds) - came_s)
        hopeless.append(gone_s - came_s if gone_s <= seconds else math.inf)
    told, true = _quantiles(waits), _quantiles(hopeless)
    bounds = frozenset(name for name in told if told[name] != true[name])
    return Observed(**told, unfinished=hopeless.count(math.inf), bounds=bounds)


def _quantiles(waits: list[float]) -> dict[str, float]:
    ascending = sorted(waits)
    return {name: of_sorted(ascending, q) for name, q in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))}
