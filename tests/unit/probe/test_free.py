"""Memory to spare, on this machine."""

import psutil
import pytest

from stackrace.measure.probe import available_bytes


def test_it_is_what_others_find_too():
    assert available_bytes() == pytest.approx(psutil.virtual_memory().available, rel=0.3)
