"""What the tests of races share."""

import pytest
from tests.core.race.simulated import Clock

from stackrace.race import block


@pytest.fixture
def clock(monkeypatch):
    """The clock that every step of a race looks at."""
    clock = Clock()
    monkeypatch.setattr(block.time, "monotonic", clock)
    return clock
