"""Whether two things are as fast as each other: both limits of their ratio within what does not matter."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.equivalence import Verdict
from ..model.interval import Interval
from .ratio import Contrast, ratios

__all__ = ["ALPHA", "LOOKS", "last_look", "ratio_limits", "verdict_of"]

LOOKS = (4, 6, 9, 13, 19, 28, 40, 57, 80, 113, 160)
"""The numbers of blocks after which it may be decided."""

ALPHA = 0.05
"""The chance, over all looks, to call two equivalent that differ by as much as matters."""


def last_look(blocks: int) -> int:
    """Return the last of ``LOOKS`` that ``blocks`` blocks have reached, 0 before the first."""
    return max((look for look in LOOKS if look <= blocks), default=0)


def ratio_limits(differences: Sequence[float]) -> Interval:
    """Return the ratio with the limits that one look may use: exp(m ± t·√(v/n)).

    ``differences`` are ln(this) − ln(that), one for each block that has both, at least one and no gaps. t is the
    quantile at 1 − ``ALPHA``/K of each side, for K looks (Bonferroni), so that over all looks together two
    one-sided tests call what differs by δ or more equivalent in at most ``ALPHA`` of all proofs. From two blocks on
    the limits are numbers, below they are None.

    Source: Schuirmann 1987, A comparison of the two one-sided tests procedure and the power approach for assessing
    the equivalence of average bioavailability, Journal of Pharmacokinetics and Biopharmaceutics 15; Dunn 1961.
    """
    contrast = Contrast(this="this", that="that", differences=tuple(differences))
    return ratios([contrast], confidence=1 - 2 * ALPHA / len(LOOKS))[0]


def verdict_of(differences: Sequence[float], allowed: float) -> Verdict:
    """Return what the planned looks say of ``differences``: ln(this) − ln(that), block by block, without gaps.

    ``allowed`` is the relative difference that does not matter, above 0. Limits within it mean equivalent at once.
    Limits beyond it raise an alarm, and the blocks after it, on their own, must say the same at a later look: a few
    blocks that a machine's change of speed put side by side would otherwise pass for a difference.
    """
    alarm = 0
    for look in (look for look in LOOKS if look <= len(differences)):
        seen = differences[:look]
        if _is_within(ratio_limits(seen), allowed):
            return Verdict.EQUIVALENT
        side = _side_beyond(seen, allowed)
        if alarm and side and _side_beyond(differences[alarm:look], allowed) == side:
            return Verdict.DIFFERENT
        alarm = alarm or (look if side else 0)
    return Verdict.OPEN


def _is_within(ratio: Interval, allowed: float) -> bool:
    if ratio.low is None or ratio.high is None:
        return False
    return 1 / (1 + allowed) <= ratio.low and ratio.high <= 1 + allowed


def _side_beyond(differences: Sequence[float], allowed: float) -> int:
    """Return 1 where both limits lie above what is allowed, −1 where they lie below it, else 0."""
    ratio = ratio_limits(differences)
    if ratio.low is None or ratio.high is None:
        return 0
    return (ratio.low > 1 + allowed) - (ratio.high < 1 / (1 + allowed))
