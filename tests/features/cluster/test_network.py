"""What the network carries is tried out between two ends that are both here."""

import socket
import threading

import pytest

from stackrace.features.cluster import network
from stackrace.features.cluster.network import pace

HERE = "127.0.0.1"


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """However slow this machine is, nobody gives up, and streams end with their last byte."""
    monkeypatch.setattr(network, "PATIENCE_S", 300.0)
    monkeypatch.setattr(network, "LASTS_S", 300.0)
    monkeypatch.setattr(network, "MOST_BYTES", 40 * len(network.CHUNK))
    # how fast they arrive is nobody's here: the pace is tested on recorded arrivals
    monkeypatch.setattr(network, "pace", lambda arrivals: sum(size for _, size in arrivals))


@pytest.fixture
def port():
    listening = network.listen(HERE)
    yield listening
    network.close(listening)


def test_echoes_come_back(port):
    median_s, p99_s = network.round_trips_s((HERE, port))
    assert 0 < median_s <= p99_s


def test_a_stream_to_the_engine_is_timed_by_it_and_its_losses_by_the_host(port):
    assert network.take((HERE, port)) == network.MOST_BYTES
    there = network.heard(port)
    assert there.taken_bytes_per_s == 0
    assert there.sent.segments > there.sent.retransmits


def test_a_stream_to_the_host_is_timed_by_it_and_its_losses_by_the_engine(port):
    sent = network.give((HERE, port))
    there = network.heard(port)
    assert there.taken_bytes_per_s == network.MOST_BYTES
    assert there.sent == network.Sent()
    assert sent.segments > sent.retransmits


def test_a_stream_without_an_end_is_ended_by_who_takes_it(port, monkeypatch):
    monkeypatch.setattr(network, "MOST_BYTES", 10**15)
    monkeypatch.setattr(network, "LASTS_S", 0.0)
    assert 0 < network.take((HERE, port)) < 10**15
    assert network.heard(port).sent.segments > 0


def test_what_was_told_once_is_not_told_again(port):
    network.give((HERE, port))
    network.heard(port)
    assert network.heard(port) == network.StreamCounts(0.0, network.Sent())


def test_nobody_listens_any_more_once_it_is_closed(port):
    network.close(port)
    with pytest.raises(OSError, match="refused"):
        network.round_trips_s((HERE, port))


def test_who_goes_away_without_a_word_is_no_error():
    with socket.create_server((HERE, 0)) as listening:
        ended = threading.Thread(target=lambda: [listening.accept()[0].close() for _ in range(network.STREAMS)])
        ended.start()
        assert network.take(listening.getsockname()) == 0
        ended.join()


SHAPED = [
    35, 21, 16, 6, 2, 16, 18, 21, 29, 21, 8, 4, 14, 25, 7, 23, 24, 3, 24, 10,
    18, 15, 18, 11, 21, 14, 21, 15, 27, 14, 22, 17, 28, 9, 22, 18, 9, 15, 26, 13,
]  # fmt: skip
"""Segments of 1,448 bytes, by 50 ms, over a wire of 500 kB/s, headers included, with a burst of 32 KiB."""
ALL_END = [(12.0, 0)] * 4


def test_a_burst_that_passed_at_full_speed_is_not_the_pace_of_the_wire():
    arrivals = [(10 + 0.05 * part + 0.025, 1448 * segments) for part, segments in enumerate(SHAPED)]
    payload = 500_000 * 1448 / 1514
    assert pace(arrivals + ALL_END) == pytest.approx(payload, rel=0.05)


def test_a_large_burst_and_the_wait_after_it_are_left_out():
    burst = [(10.0, 50_000_000), (10.01, 50_000_000)]
    steady = [(10.6 + 0.1 * part, 100) for part in range(14)]
    assert pace(burst + steady + ALL_END) == pytest.approx(1000, rel=0.1)


def test_after_the_first_stream_has_ended_the_line_is_not_full():
    steady = [(10.0 + 0.1 * part, 100) for part in range(10)]
    assert pace([*steady, (10.95, 0), (11.5, 3), *ALL_END]) == pytest.approx(1000, rel=0.1)


def test_where_nothing_arrived_there_is_no_pace():
    assert pace([]) == 0
    assert pace([(10.0, 0), (10.0, 0)]) == 0


def test_a_stream_that_ended_before_another_began_tells_no_pace():
    assert pace([(9.0, 0), (10.0, 5), (12.0, 0)]) == 0
