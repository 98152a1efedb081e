"""Whatever race a store may hold can be published and comes back."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stackrace.features.publish.exchange import Anonymizer, published, race_from


def received(sent):
    return race_from(json.loads(json.dumps(sent.body, allow_nan=False)), sent.packed)


@pytest.mark.exhaustive
@settings(suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_race_comes_back_equal_from_its_document(races, data):
    race = data.draw(races)
    sent = published(race)
    # without what lies where: texts of any kind may name folders
    assert received(sent) == Anonymizer().race(race)
    assert published(received(sent)) == sent
