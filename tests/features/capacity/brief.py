"""Short trials of ``capacity``, for tests: they end after some requests, however long these take."""

from collections.abc import Callable
from dataclasses import replace

from stackrace.features.capacity import trials
from stackrace.measure.load import Load

TRIALS = ("CLOSED_WARMUP_S", "LEAST_S", "MOST_S", "WARMUP_S")
TRIAL_S = 0.2
"""Each part of a trial."""
TRIAL_REQUESTS = 10
"""So many are asked for in its closed loop, and at least in its trials."""


def of_requests(loads: Callable[..., tuple[Load, Load]]) -> Callable[..., tuple[Load, Load]]:
    """Return what makes the loads of ``capacity``, the closed one of so many requests."""

    def made(*arguments: object) -> tuple[Load, Load]:
        closed, opened = loads(*arguments)
        return replace(closed, duration_s=None, requests=TRIAL_REQUESTS), opened

    return made


def shorten() -> None:
    """Make the trials of this process short."""
    for name in TRIALS:
        setattr(trials, name, TRIAL_S)
    trials._loads = of_requests(trials._loads)
    trials.requests_for = lambda _: TRIAL_REQUESTS
    trials._ANSWERS = trials._LEAST_ANSWERS = 1
