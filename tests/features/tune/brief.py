"""Short pilots of a tuning, for tests."""

from stackrace.features.tune import needs


def shorten() -> None:
    """Ask each configuration for what it needs during a moment only."""
    needs.PILOT_S = 0.2
