"""What the network does to a race: narrow, long and bad wires, and one that is cut for a while."""

from __future__ import annotations

import time

import pytest
from tests.cluster.lab import lab
from tests.cluster.racing import RUNS, begun, beside_workers, race, report, slices_of, wait_until

NARROW = 500_000
"""Bytes per second, headers included, of the wire to the engine."""
LOSS = 0.02
DELAY_S = 0.005
CUT_S = 5.0


@pytest.fixture(scope="module")
def behind_wires(tmp_path_factory):
    """A scheduler, an engine behind a narrow wire, one behind a long and bad one, and a host."""
    with lab(tmp_path_factory.mktemp("wires")) as made:
        made.scheduler = made.machine("scheduler")
        narrow = made.machine("narrow", cores="1", bytes_per_s=NARROW)
        bad = made.machine("bad", cores="1", delay_s=DELAY_S, loss=LOSS)
        made.address = made.cluster(made.scheduler, {"engine": [narrow, bad], "stack": [made.machine("host")]})
        yield made


@pytest.fixture(scope="module")
def raced(behind_wires):
    return race(behind_wires, *RUNS, "--url", "/ten-kilobytes/")


def test_what_each_wire_carries_and_loses_is_kept_with_the_race(raced):
    paths = {path["engine"]: path for path in raced["race"]["network"]}
    assert {path["host"] for path in paths.values()} == {"host"}
    narrow, bad = paths["narrow"], paths["bad"]
    for direction in ("engine_takes_bytes_per_s", "engine_sends_bytes_per_s"):
        assert NARROW / 2 < narrow[direction] < 2 * NARROW
    assert narrow["round_trip_s"] < 2 * DELAY_S <= bad["round_trip_s"] <= bad["round_trip_p99_s"]
    assert LOSS / 2 < bad["retransmits"] / bad["segments_sent"] < 1
    assert any("Between narrow and host" in note for note in raced["words"]["notes"])


def test_slices_that_fill_the_narrow_wire_are_refused(raced):
    measured = slices_of(raced)
    full = [one for one in measured if "network-full" in {finding["id"] for finding in one["findings"]}]
    assert full
    assert not any(one["valid"] for one in full)


def test_what_is_measured_while_the_wire_is_cut_is_refused_and_nothing_stays_behind(tmp_path):
    with lab(tmp_path) as made:
        made.scheduler, made.engine, made.host = (
            made.machine("scheduler"), made.machine("engine", cores="1"), made.machine("host"),
        )  # fmt: skip
        made.address = made.cluster(made.scheduler, {"engine": [made.engine], "stack": [made.host]})
        process = begun(made, "--repeats", "1", "--duration", "6s", "--no-twin")
        loaded_since = time.monotonic()
        # long enough to be in a slice: warming up takes less
        while time.monotonic() - loaded_since < 3:
            assert process.poll() is None
            if not made.engine.connections_to(made.host):
                loaded_since = time.monotonic()
            time.sleep(0.02)
        made.engine.link("down")
        time.sleep(CUT_S)
        made.engine.link("up")
        # answered, refused, or to be resumed
        assert process.wait(timeout=120) in (0, 3, 4)
        wait_until(lambda: not beside_workers(made.host) and not beside_workers(made.engine))
        measured = slices_of(report(made))
        cut = [one for one in measured if one["latency"]["max_s"] > 1]
        assert cut
        assert not any(one["valid"] for one in cut)
