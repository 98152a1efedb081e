"""The simulation of claims: what it counts as wrong, and that its parts are the comparisons as shipped."""

import numpy as np
import pytest
from benchmarks.method.claims import CLAIMS, DELTA, PARTS, wrong

from stackrace.features.comparisons.claims import Answer, Panel, settled
from stackrace.features.comparisons.named import NAMES
from stackrace.features.comparisons.reading import read_comparison


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


def test_every_claim_has_its_place():
    claims = [one for name in NAMES for one in read_comparison(name).claims]
    assert len(claims) == CLAIMS
    for name in NAMES:
        own = [one for one in claims if one in read_comparison(name).claims]
        parts = [part for part in PARTS if part.comparison == name]
        assert sum(len(part.claims) for part in parts) == sum(one.kind.is_ratio for one in own)
