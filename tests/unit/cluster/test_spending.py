"""What services had used by a moment is told by the looks around it."""

import pytest

from stackrace.features.cluster.spending import at

LOOKS = [(10.0, {"redis": 1.0}), (10.1, {"redis": 1.1}), (10.2, {"redis": 1.3})]


@pytest.mark.parametrize(
    ("moment_s", "used_s"), [(9.0, 1.0), (10.0, 1.0), (10.05, 1.05), (10.1, 1.1), (10.2, 1.3), (11.0, 1.3)]
)
def test_between_two_looks_a_service_works_evenly(moment_s, used_s):
    assert at(LOOKS, moment_s)["redis"] == pytest.approx(used_s)
