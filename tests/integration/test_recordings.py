"""What several engines recorded of one load, merged: as if one had recorded all."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.http_servers import Server, serving

from stackrace.base.errors import InputError
from stackrace.measure.engine.engine import record
from stackrace.measure.engine.histogram import distribution
from stackrace.measure.engine.outcome import merged
from stackrace.measure.load import Load, LoadResult
from stackrace.measure.workload import Request, Workload

WORKLOAD = Workload(requests=(Request(path="/"), Request(path="/other")), answers=())
APART_S = 7.25
"""How far the second engine's clock is said to be ahead of the first one's."""


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    with serving(Server()) as server:
        yield server.server_address[:2]


def together(address: tuple[str, int], loads: list[Load], **how: object) -> list[bytes]:
    starts_s = time.monotonic() + 1.0
    with ThreadPoolExecutor(len(loads)) as pool:
        playing = [
            pool.submit(
                record, address=address, workload=WORKLOAD, load=load, starts_s=starts_s,
                other_threads=(index, len(loads) - 1 - index), **how,
            )
            for index, load in enumerate(loads)
        ]  # fmt: skip
        return [each.result() for each in playing]


def buckets(result: LoadResult) -> Counter[float]:
    return Counter({bucket.value_s: bucket.count for bucket in distribution(result.histogram)})


def test_merged_recordings_are_the_sum_of_all(address: tuple[str, int]) -> None:
    recordings = together(address, [Load(concurrency=2, requests=40), Load(concurrency=1, requests=30)])
    apart = [merged([(recording, 0.0)]) for recording in recordings]
    whole = merged([(recording, 0.0) for recording in recordings], ceiling_per_s=5.0)
    assert whole.counts.ok == 70
    assert buckets(whole) == buckets(apart[0]) + buckets(apart[1])
    assert whole.latency.count == 70
    assert whole.service is not None
    assert whole.service.count == 70
    assert [target.counts.ok for target in whole.targets] == [35, 35]
    assert whole.bytes_read == sum(each.bytes_read for each in apart)
    assert whole.ceiling_per_s == 5.0


def test_windows_are_laid_on_the_common_clock(address: tuple[str, int]) -> None:
    recordings = together(address, [Load(concurrency=1, duration_s=0.3)] * 2)
    here = merged([(recording, 0.0) for recording in recordings])
    there = merged([(recordings[0], APART_S), (recordings[1], APART_S)])
    assert there.started_at == pytest.approx(here.started_at + APART_S, abs=1e-6)
    each = [merged([(recording, 0.0)]) for recording in recordings]
    ended_at = max(one.started_at + one.duration_s for one in each)
    assert here.started_at + here.duration_s == pytest.approx(ended_at, abs=1e-3)


def test_all_begin_at_the_agreed_moment(address: tuple[str, int]) -> None:
    starts_s = time.monotonic() + 0.4
    recording = record(
        address=address, workload=WORKLOAD, load=Load(concurrency=1, duration_s=0.1), starts_s=starts_s
    )
    assert merged([(recording, 0.0)]).started_at >= starts_s - 1e-6


def test_an_open_loop_is_dealt_out_evenly(address: tuple[str, int]) -> None:
    """Two engines of 50 requests a second each, in turn: no two fall due at the same moment."""
    load = Load(concurrency=4, duration_s=1.0, rate_per_s=100.0)
    whole = merged([(recording, 0.0) for recording in together(address, [load, load])])
    assert whole.counts.scheduled == pytest.approx(100, abs=2)
    assert whole.arrivals_distance is not None


def test_what_is_no_recording_is_refused(address: tuple[str, int]) -> None:
    for data in (b"", b"STKRREC0", b"anything else"):
        with pytest.raises(InputError, match="no recording of this version"):
            merged([(data, 0.0)])
    closed, opened = (
        record(address=address, workload=WORKLOAD, load=load)
        for load in (Load(concurrency=1, requests=2), Load(concurrency=1, requests=2, rate_per_s=100.0))
    )
    with pytest.raises(InputError, match="different requests or loops"):
        merged([(closed, 0.0), (opened, 0.0)])
    with pytest.raises(InputError, match="no recording to join"):
        merged([])
