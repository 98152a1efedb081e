"""Whether two things are as fast as each other: both limits of their ratio within what does not matter."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.interval import Interval
from .ratio import Contrast, ratios

__all__ = ["ALPHA", "LOOKS", "last_look", "ratio_limits"]

LOOKS = (4, 6, 9, 13, 19, 28, 40)
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
