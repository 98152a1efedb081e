"""What a mix of requests should reach, from what each of its kinds reaches alone.

The author of the 2009 cost ladder measured memcached lookups (2,100 requests per second) and the ORM (700), and
predicted a site that answers 90 % from the one and 10 % from the other, less 5 % for logic, at about 1,850. That is
the mean of the rates. But rates do not add up, times do: the slow tenth of the requests takes a quarter of it.
From his own figures the right answer is about 1,660.

Both hold for load that keeps one and the same resource busy, such as a closed loop on a saturated CPU, where a rate
is the reciprocal of a cost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

__all__ = ["LADDER_MIX", "mean_of_rates", "rate_of_mean_time"]

LADDER_MIX: Mapping[str, float] = {"/memcached/": 0.9, "/sqlalchemy/": 0.1}
"""The shares of the rungs in the ladder's own mix, by URL."""

_EXTRA = 0.05
"""The part of the rate that logic beside the lookups takes, as the author put it."""


def mean_of_rates(
    rates_per_s: Mapping[str, float], shares: Mapping[str, float] = LADDER_MIX, *, extra: float = _EXTRA
) -> float:
    """Return the mix's rate as the author predicted it: Σ sᵢrᵢ · (1 - extra), the weighted arithmetic mean.

    Never below ``rate_of_mean_time``, and equal only where all rates are. Raises ValueError as that does.

    >>> round(mean_of_rates({"/memcached/": 2100, "/sqlalchemy/": 700}))
    1862
    """
    parts = _parts(rates_per_s, shares, extra)
    return sum(share * rate for share, rate in parts) * (1 - extra)


def rate_of_mean_time(
    rates_per_s: Mapping[str, float], shares: Mapping[str, float] = LADDER_MIX, *, extra: float = _EXTRA
) -> float:
    """Return the mix's rate as times add up: (1 - extra) / Σ(sᵢ/rᵢ), the weighted harmonic mean.

    ``shares`` are the parts of the mix and sum to 1, ``extra`` is in [0, 1). Rates of what is not in the mix are
    ignored. Raises ValueError naming what is missing, not positive or out of range.

    >>> round(rate_of_mean_time({"/memcached/": 2100, "/sqlalchemy/": 700}))
    1662
    """
    parts = _parts(rates_per_s, shares, extra)
    return (1 - extra) / sum(share / rate for share, rate in parts)


def _parts(
    rates_per_s: Mapping[str, float], shares: Mapping[str, float], extra: float
) -> tuple[tuple[float, float], ...]:
    """Return (share, rate) of each part of the mix."""
    if missing := [name for name in shares if name not in rates_per_s]:
        raise ValueError(f"rates_per_s: no rate of {', '.join(missing)}, which the mix consists of")
    for name in shares:
        if not 0 < rates_per_s[name] < math.inf:
            raise ValueError(f"rates_per_s: {name} has {rates_per_s[name]}, which is no rate per second")
        if not 0 <= shares[name] <= 1:
            raise ValueError(f"shares: {name} has {shares[name]}, which is not between 0 and 1")
    if not math.isclose(math.fsum(shares.values()), 1):
        raise ValueError(f"shares: they sum to {math.fsum(shares.values())}, not to 1")
    if not 0 <= extra < 1:
        raise ValueError(f"extra: {extra} is not at least 0 and below 1")
    return tuple((shares[name], rates_per_s[name]) for name in shares)
