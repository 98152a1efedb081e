"""Whatever race a store may hold can be published and comes back equal."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stackrace.publish import published, race_from


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_race_comes_back_equal_from_its_document(races, data):
    race = data.draw(races)
    sent = published(race)
    text = json.dumps(sent.body, allow_nan=False)
    assert race_from(json.loads(text), sent.packed) == race
