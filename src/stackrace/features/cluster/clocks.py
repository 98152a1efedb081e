"""How far two machines' clocks are apart: from the exchange that took least, as NTP does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import monotonic

EXCHANGES = 8
"""How often a clock is asked for the time. The shortest of so many is seldom one that had to wait."""
_ENOUGH_S = 0.001
"""An exchange that took no more than so much longer than the shortest is as good: it errs by half of that more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockOffset:
    """How a member's CLOCK_MONOTONIC differs from the coordinator's."""

    offset_s: float
    """The member's clock minus ours, in seconds."""
    error_s: float
    """The offset is off by no more than this: half of the shortest round trip."""
    round_trip_s: float
    """The shortest round trip to the member and back, in seconds, what carries it included."""
    taken_s: float
    """When it was estimated, on our own clock."""

    def to_remote(self, local_s: float) -> float:
        """Return what the member's clock shows when ours shows ``local_s``."""
        return local_s + self.offset_s


@dataclass(frozen=True, slots=True)
class Exchange:
    """One question for the time, all in seconds of CLOCK_MONOTONIC."""

    asked_s: float
    """When it was asked, on our clock."""
    remote_s: float
    """The answer: what the other clock showed."""
    answered_s: float
    """When the answer was here, on our clock."""


def estimate(exchanges: Iterable[Exchange]) -> ClockOffset:
    """Return the offset by the shortest of ``exchanges``, of which there is one at least.

    The other clock was read somewhere between question and answer. Whoever takes the middle is off by half of the
    round trip at most, however uneven the ways are, so the shortest exchange bounds it best.

    Source: Cristian, Probabilistic clock synchronization, 1989; RFC 5905 section 8.
    """
    best = min(exchanges, key=lambda exchange: exchange.answered_s - exchange.asked_s)
    round_trip_s = best.answered_s - best.asked_s
    return ClockOffset(
        offset_s=best.remote_s - (best.asked_s + best.answered_s) / 2,
        error_s=round_trip_s / 2,
        round_trip_s=round_trip_s,
        taken_s=best.answered_s,
    )


def compare(ask: Callable[[], float], shortest_s: float = 0.0) -> ClockOffset:
    """Return how the clock that ``ask`` reads, in seconds, differs from ours.

    It is asked ``EXCHANGES`` times, or until it answers about as fast as in ``shortest_s``, the shortest round trip
    that is known.
    """
    exchanges = [_exchange(ask)]
    while len(exchanges) < EXCHANGES and estimate(exchanges).round_trip_s > shortest_s + _ENOUGH_S:
        exchanges.append(_exchange(ask))
    return estimate(exchanges)


def _exchange(ask: Callable[[], float]) -> Exchange:
    asked_s = monotonic()
    remote_s = ask()
    return Exchange(asked_s, remote_s, monotonic())
