"""Short pilots of a tuning, for tests."""

from stackrace.features.tune import rate


def shorten() -> None:
    """Ask each configuration for what it needs during a moment only."""
    rate.PILOT_S = 0.2
