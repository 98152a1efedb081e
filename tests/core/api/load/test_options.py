"""Flags of the load engine that are no use are refused before anything is sent."""

import pytest

from stackrace.api.load.options import LoadOptions, refuse_contradictions
from stackrace.base.errors import InputError

URL = "http://127.0.0.1:8000/"


def test_a_rate_that_no_engine_reaches_is_refused():
    with pytest.raises(InputError, match="--rate is more than 1 M/s"):
        refuse_contradictions(LoadOptions(urls=(URL,), rate=1e9))
    refuse_contradictions(LoadOptions(urls=(URL,), rate=1e6))
