"""One load for several engines, and a warm-up that is looked at from elsewhere."""

from hypothesis import given
from hypothesis import strategies as st

from stackrace.features.cluster.remote_engines import BinByBin, shares
from stackrace.measure.load import Load


@given(st.integers(1, 500), st.integers(1, 20))
def test_connections_are_dealt_evenly_and_none_is_lost(connections, engines):
    dealt = [share.concurrency for share in shares(Load(concurrency=connections, duration_s=1.0), engines)]
    assert sum(dealt) == connections
    assert max(dealt) - min(dealt) <= 1
    assert min(dealt) >= 1


@given(st.integers(1, 50), st.integers(1, 50), st.integers(1, 8))
def test_requests_are_dealt_too_and_nobody_gets_none(connections, requests, engines):
    dealt = [share.requests for share in shares(Load(concurrency=connections, requests=requests), engines)]
    assert sum(dealt) == requests
    assert min(dealt) >= 1


def test_the_rate_of_an_open_loop_is_that_of_all_together():
    load = Load(concurrency=10, duration_s=1.0, rate_per_s=300.0)
    assert [share.rate_per_s for share in shares(load, 3)] == [300.0] * 3


def test_each_bin_is_asked_about_once_however_they_come():
    asked = []
    warm = BinByBin(lambda counts: asked.append(list(counts)) or len(counts) == 3)
    assert [warm(counts) for counts in ([], [5], [5], [5, 6, 7, 8])] == [False, False, False, True]
    assert asked == [[5], [5, 6], [5, 6, 7]]
