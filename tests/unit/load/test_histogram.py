from __future__ import annotations

import pytest

from stackrace.base.errors import InputError
from stackrace.measure.engine.histogram import distribution, merge, quantiles
from stackrace.measure.load import Quantiles

EMPTY = merge([])


def test_nothing_merges_to_an_empty_distribution() -> None:
    assert quantiles([]) == Quantiles(count=0, mean=0.0, p50=0.0, p90=0.0, p99=0.0, p999=0.0, max=0.0)
    assert quantiles([EMPTY, EMPTY]).count == 0
    assert distribution(EMPTY) == ()


@pytest.mark.parametrize("damaged", [b"", b"rubbish", EMPTY[:-1], EMPTY + b"x"])
def test_a_damaged_distribution_is_refused(damaged: bytes) -> None:
    with pytest.raises(InputError, match="damaged"):
        quantiles([damaged])
    with pytest.raises(InputError, match="damaged"):
        distribution(damaged)
