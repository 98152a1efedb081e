"""Every sentence of 200 results agrees with the result's own figures, in every form."""

from __future__ import annotations

import pytest
from tests.ordinary import ordinarily
from tests.sentences.laws import LAWS
from tests.sentences.results import MAKERS

PARTS = [(kind, first) for kind, (_, many) in MAKERS.items() for first in range(0, many, 25)]
OTHERS = {("races", 25), ("races", 50), ("races", 75), ("checks", 25)}


@pytest.mark.parametrize(("kind", "first"), ordinarily(PARTS, {*PARTS} - OTHERS))
def test_results_say_what_their_figures_say(kind, first):
    make, many = MAKERS[kind]
    results = map(make, range(first, min(first + 25, many)))
    broken = [
        f"{each.name}: {name}: {said}" for each in results for name, law in LAWS.items() for said in law(each)
    ]
    assert not broken, f"{len(broken)} sentences:\n" + "\n".join(broken)


def test_there_are_at_least_200_results():
    assert sum(many for _, many in MAKERS.values()) >= 200
