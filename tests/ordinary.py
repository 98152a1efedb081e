"""What ``make test`` runs of tests that are alike: some of each kind; ``make test-all`` runs them all."""

from __future__ import annotations

from collections.abc import Container, Iterable

import pytest
from _pytest.mark import ParameterSet


def ordinarily(values: Iterable[object], some: Container[object]) -> list[ParameterSet]:
    """Return ``values`` as parameters, of which all but ``some`` are exhaustive."""
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)),
            marks=() if value in some else pytest.mark.exhaustive,
        )
        for value in values
    ]
