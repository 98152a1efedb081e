"""What is tried next where there are too many configurations to race all: a sampler proposes, our blocks judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....base.errors import MissingError
from ....stats.pairs import Array
from .grid import Flags

_INSTALL = "pip install 'stackrace[tune]'"


class Proposer:
    """Optuna's tree-structured Parzen estimator, asked for a batch and told all means so far.

    It is made anew for each batch from the seed and what was measured, so that a race can be repeated and go on.
    Raises MissingError where Optuna is missing.

    Source: Bergstra et al. 2011, Algorithms for Hyper-Parameter Optimization, NeurIPS 24.
    """

    def __init__(self, places: Sequence[Sequence[float]] | Array, seed: int) -> None:
        self._optuna = require_sampler()
        self._places = np.asarray(places, dtype=float)
        self._seed = seed % 2**32
        self._steps = [sorted({float(step) for step in column if np.isfinite(step)}) for column in self._places.T]

    def __call__(self, expected: Array, fresh: Flags, many: int) -> Sequence[int]:
        """Return ``many`` of the configurations ``fresh``, fewer where there are not so many."""
        optuna = self._optuna
        sampler = optuna.samplers.TPESampler(
            seed=self._seed, n_startup_trials=8, multivariate=True, constant_liar=True
        )
        study = optuna.create_study(direction="maximize", sampler=sampler)
        ranges = {
            str(d): optuna.distributions.IntDistribution(0, len(steps) - 1) for d, steps in enumerate(self._steps)
        }
        for i in np.flatnonzero(np.isfinite(expected) & np.isfinite(self._places).all(axis=1)):
            at = {str(d): self._steps[d].index(float(self._places[i, d])) for d in range(len(self._steps))}
            study.add_trial(optuna.trial.create_trial(params=at, distributions=ranges, value=float(expected[i])))
        left = [int(i) for i in np.flatnonzero(fresh)]
        batch: list[int] = []
        while left and len(batch) < many:
            trial = study.ask(ranges)
            wanted = np.array([self._steps[d][trial.params[str(d)]] for d in range(len(self._steps))])
            nearest = min(left, key=lambda i: (self._far(i, wanted), i))
            left.remove(nearest)
            batch.append(nearest)
        return batch

    def _far(self, i: int, wanted: Array) -> float:
        """Return how far a configuration is from a proposal, which others may forbid, or which was tried."""
        apart = float(((self._places[i] - wanted) ** 2).sum())
        return apart if np.isfinite(apart) else np.inf


def require_sampler() -> Any:
    """Return Optuna, quiet; raises MissingError with what installs it."""
    try:
        import optuna
    except ImportError as error:
        raise MissingError(
            f"so many configurations need Optuna, which proposes what to try: {_INSTALL}; or tune fewer settings "
            "at a time with --vary"
        ) from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna
