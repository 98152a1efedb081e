"""Races on machines that are network namespaces: real schedulers, real workers, clocks and wires of their own."""

from __future__ import annotations

import json
import os
import signal
import time

import pytest
from tests.features.cluster.conftest import AHEAD_S, DELAY_S
from tests.features.cluster.lab import PYTHON
from tests.features.cluster.racing import (
    LONG,
    MANY_RUNS,
    RUNS,
    begun,
    beside_workers,
    command,
    killed,
    member,
    race,
    report,
    slices_of,
    wait_until,
)


def test_members_are_shown_with_roles_clocks_and_distances(several):
    shown = json.loads(
        several.scheduler.run(PYTHON, "-m", "stackrace", "cluster", several.address, "--json").stdout
    )
    by_name = {member["name"]: member for member in shown}
    assert {name: member["roles"] for name, member in by_name.items()} == {
        "near": ["engine"], "far": ["engine"], "host-1": ["stack"], "host-2": ["stack"],
    }  # fmt: skip
    far, host = by_name["far"]["clock"], by_name["host-1"]["clock"]
    assert far["round_trip_s"] >= 2 * DELAY_S
    assert far["offset_s"] == pytest.approx(AHEAD_S, abs=far["error_s"])
    assert host["offset_s"] == pytest.approx(77, abs=host["error_s"])
    assert by_name["near"]["cores"] == [1]


@pytest.mark.exhaustive
def test_every_machine_is_examined_at_once(several):
    program = (PYTHON, "-m", "stackrace", "doctor", "--cluster", several.address, "--watch", "500ms")
    done = several.scheduler.run(*program, "--json")
    told = json.loads(done.stdout)
    assert told["faults"] == []
    assert {machine["name"] for machine in told["machines"]} == {machine.name for machine in several.machines[1:]}
    assert all(machine["advice"] is not None for machine in told["machines"])
    assert done.returncode == int(told["forbidden"])
    crowd = several.scheduler.run(*program, "-c", "1000000")
    assert crowd.returncode == 1
    assert "ephemeral ports" in crowd.stdout
    assert "No race should start on this cluster" in crowd.stdout


def test_engines_share_one_load_and_stacks_are_raced_on_both_hosts(several):
    document = race(several, *RUNS)
    measured = slices_of(document)
    assert {launch["machine"] for launch in document["launches"]} == {"host-1", "host-2"}
    by_block = {}
    for launch in document["launches"]:
        by_block.setdefault(launch["block"], set()).add(launch["machine"])
    assert all(len(machines) == 1 for machines in by_block.values())
    for slice_ in measured:
        shares = slice_["engines"]
        assert sum(share["connections"] for share in shares) == 4
        assert sum(share["answered"] for share in shares) == slice_["counts"]["ok"]
        # of clocks that are minutes apart
        assert all(abs(share["late_s"]) < 60 for share in shares)
        assert all(share["round_trip_s"] >= 2 * DELAY_S for share in shares if share["name"] == "far")
    assert all(not beside_workers(machine) for machine in several.machines)
    paths = {path["engine"]: path for path in document["race"]["network"]}
    assert paths.keys() == {"near", "far"}
    assert {path["host"] for path in paths.values()} <= {"host-1", "host-2"}
    for path in paths.values():
        assert 0 < path["round_trip_s"] <= path["round_trip_p99_s"]
        assert path["engine_takes_bytes_per_s"] > 0 < path["engine_sends_bytes_per_s"]
        assert path["segments_sent"] > 0
    assert paths["far"]["round_trip_s"] >= 2 * DELAY_S


def is_loaded(made, host, engines):
    """Tell whether the engines load a stack of the host; what prepares a race connects, too, before any block."""
    has_begun = "block " in (made.folder / "scheduler.log").read_text()
    return has_begun and sum(engine.connections_to(host) for engine in engines) >= 4


def leaves(several, machine, *asked):
    """Start a race, kill the worker of ``machine`` while its host is under load, and return what was measured."""
    host = several.hosts[1]
    process = several.scheduler.start(*asked)
    wait_until(lambda: is_loaded(several, host, several.engines))
    os.kill(member(machine), signal.SIGKILL)
    assert process.wait(timeout=1800) in (0, 3), (several.folder / "scheduler.log").read_text()
    launches = report(several)["launches"]
    cut = {launch["block"] for launch in launches if (launch["failure"] or {}).get("code") == "interrupted"}
    machines = {}
    for launch in launches:
        machines.setdefault(launch["block"], set()).add(launch["machine"])
    assert len(cut) == 1
    assert all(len(those) == 1 for those in machines.values())
    assert machines[cut.pop()] == {host.name}
    assert max(block for block, those in machines.items() if "host-1" in those) > 1
    return [slice_ for launch in launches if not launch["failure"] for slice_ in launch["slices"]]


@pytest.mark.exhaustive
def test_a_lost_host_leaves_the_race_and_its_block_counts_nowhere(several):
    assert leaves(several, several.hosts[1], *command(several, *MANY_RUNS))


@pytest.mark.exhaustive
def test_a_killed_coordinator_leaves_nothing_on_any_machine(small):
    process = begun(small, *LONG)
    second = small.scheduler.run(*command(small))
    assert second.returncode == 2
    assert "host: this machine hosts another race" in second.stderr
    os.killpg(process.pid, signal.SIGKILL)
    wait_until(lambda: not beside_workers(small.host))


@pytest.mark.exhaustive
def test_a_killed_worker_ends_the_race_which_can_go_on(small):
    process = begun(small, *LONG)
    said = killed(small.host, process)
    wait_until(lambda: not small.host.processes())
    assert "host (tcp://" in said
    assert "was lost" in said


@pytest.mark.exhaustive
def test_a_killed_engine_ends_the_race_which_can_go_on(small):
    process = begun(small, *LONG)
    assert "engine" in killed(small.engine, process)
    wait_until(lambda: not beside_workers(small.host))


@pytest.mark.exhaustive
def test_a_killed_scheduler_leaves_nothing_on_any_machine(small):
    process = begun(small, *LONG)
    os.kill(member(small.scheduler), signal.SIGKILL)
    process.wait(timeout=1800)
    wait_until(lambda: not beside_workers(small.host))


@pytest.mark.exhaustive
def test_what_an_engine_saw_that_was_stopped_is_refused(small):
    """Each run of two seconds meets one of the stops, which come every one and a half."""
    process = begun(small, "--repeats", "1", "--duration", "2s", "--no-twin", "--html", f"{small.folder}/race.html")
    engine = member(small.engine)
    while process.poll() is None:
        os.kill(engine, signal.SIGSTOP)
        time.sleep(0.5)
        os.kill(engine, signal.SIGCONT)
        time.sleep(1)
    assert "engine stalled" in (small.folder / "race.html").read_text()


@pytest.mark.exhaustive
def test_bad_clusters_are_named_before_anything_starts(small):
    nowhere = small.scheduler.run(
        PYTHON, "-m", "stackrace", "run", "--bundled", "--cluster", f"tcp://{small.scheduler.address}:1"
    )
    assert nowhere.returncode == 2
    assert "no Dask scheduler answers there" in nowhere.stderr
    os.kill(member(small.host), signal.SIGTERM)
    wait_until(lambda: not small.host.processes())
    nobody = small.scheduler.run(*command(small))
    assert nobody.returncode == 2
    assert "nobody there hosts stacks" in nobody.stderr


CUT_S = 5.0


def measured_across_a_cut(small):
    """Race while the wire is cut for some seconds; returns the slices that waited for it: none if it met none."""
    process = begun(small, "--repeats", "1", "--requests", "6000", "--no-twin")
    wait_until(lambda: is_loaded(small, small.host, [small.engine]), every_s=0.02)
    small.engine.link("down")
    time.sleep(CUT_S)
    small.engine.link("up")
    # answered, refused, or to be resumed
    assert process.wait(timeout=1800) in (0, 3, 4)
    wait_until(lambda: not beside_workers(small.host) and not beside_workers(small.engine))
    return [one for one in slices_of(report(small)) if one["latency"]["max_s"] > 1]


@pytest.mark.exhaustive
def test_what_is_measured_while_the_wire_is_cut_is_refused_and_nothing_stays_behind(small):
    """A run of many requests does not end while the wire is cut; a busy machine may cut only the warm-up."""
    cut = next(filter(None, (measured_across_a_cut(small) for _ in range(6))), [])
    assert cut
    assert not any(one["valid"] for one in cut)
