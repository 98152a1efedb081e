"""The simulation of claims: what it counts as wrong."""

import numpy as np
import pytest
from benchmarks.method.claims import DELTA, wrong

from stackrace.features.comparisons.claims import Answer, Panel, settled


@pytest.mark.parametrize(
    ("answer", "theta", "is_wrong"),
    [
        (Answer.MORE, 0.1, False), (Answer.MORE, 0.0, True), (Answer.MORE, -0.1, True),
        (Answer.LESS, -0.1, False), (Answer.LESS, 0.0, True),
        (Answer.SAME, 0.0, False), (Answer.SAME, DELTA, True), (Answer.SAME, -0.1, True),
        (Answer.OPEN, 0.0, False),
    ],
)  # fmt: skip
def test_wrong_is_what_is_not_so(answer, theta, is_wrong):
    found = settled([Panel(values=np.zeros((2, 1)), group=[0, 0], contrasts=[(0, 1)])], delta=DELTA)
    found.answer[0] = answer
    assert bool(wrong(found, np.array([theta]))[0]) is is_wrong
