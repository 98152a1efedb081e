"""Races on machines that are network namespaces: real schedulers, real workers, clocks and wires of their own."""

from __future__ import annotations

import json
import os
import signal
import time

import pytest
from tests import ssh_server
from tests.cluster.lab import PYTHON, lab
from tests.cluster.racing import (
    LONG,
    MANY_RUNS,
    RUNS,
    begun,
    beside_workers,
    command,
    race,
    report,
    slices_of,
    wait_until,
)

AHEAD_S = 5000
DELAY_S = 0.01
"""Of each of a packet's ways to or from the far engine, so its round trip is 20 ms."""


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """A scheduler, two engines, one of them far away with another clock, and two hosts of stacks."""
    with lab(tmp_path_factory.mktemp("several")) as made:
        made.scheduler = made.machine("scheduler")
        near, far = (
            made.machine("near", cores="1"),
            made.machine("far", cores="1", ahead_s=AHEAD_S, delay_s=DELAY_S),
        )
        hosts = [made.machine("host-1", ahead_s=77), made.machine("host-2")]
        made.address = made.cluster(made.scheduler, {"engine": [near, far], "stack": hosts})
        made.home = made.folder / "home"
        yield made


@pytest.fixture(scope="module")
def mended(tmp_path_factory):
    """A scheduler, an engine and one host, for :func:`small`."""
    with lab(tmp_path_factory.mktemp("small")) as made:
        made.scheduler = made.machine("scheduler")
        made.engine, made.host = made.machine("engine", cores="1"), made.machine("host")
        made.address = made.cluster(made.scheduler, {"engine": [made.engine], "stack": [made.host]})
        yield made


@pytest.fixture
def small(mended):
    """A scheduler, an engine and one host, all there; a test may end any, and reads what it was told itself."""
    mended.whole(mended.scheduler)
    (mended.folder / "scheduler.log").write_text("")
    return mended


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


def test_every_machine_is_examined_at_once(several):
    program = (PYTHON, "-m", "stackrace", "doctor", "--cluster", several.address, "--watch", "500ms")
    done = several.scheduler.run(*program, "--json")
    told = json.loads(done.stdout)
    assert told["faults"] == []
    assert {machine["name"] for machine in told["machines"]} == {"near", "far", "host-1", "host-2"}
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
        assert all(abs(share["late_s"]) < 1 for share in shares)
        assert all(share["round_trip_s"] >= 2 * DELAY_S for share in shares if share["name"] == "far")
    assert all(not beside_workers(machine) for machine in several.machines)


def test_a_killed_coordinator_leaves_nothing_on_any_machine(small):
    process = begun(small, *LONG)
    second = small.scheduler.run(*command(small))
    assert second.returncode == 2
    assert "host: this machine hosts another race" in second.stderr
    os.killpg(process.pid, signal.SIGKILL)
    wait_until(lambda: not beside_workers(small.host))


def test_a_killed_worker_ends_the_race_which_can_go_on(small):
    process = begun(small, *LONG)
    [worker] = [pid for pid, text in small.host.processes() if "dask_worker" in text]
    os.kill(worker, signal.SIGKILL)
    assert process.wait(timeout=60) == 4
    wait_until(lambda: not small.host.processes())
    said = (small.folder / "scheduler.log").read_text()
    assert "host (tcp://" in said
    assert "was lost" in said
    assert "--resume" in said


def test_a_killed_engine_ends_the_race_which_can_go_on(small):
    process = begun(small, *LONG)
    [worker] = [pid for pid, text in small.engine.processes() if "dask_worker" in text]
    os.kill(worker, signal.SIGKILL)
    assert process.wait(timeout=120) == 4
    wait_until(lambda: not beside_workers(small.host))
    said = (small.folder / "scheduler.log").read_text()
    assert "engine" in said
    assert "--resume" in said


def test_a_lost_host_leaves_the_race_and_its_block_counts_nowhere(several):
    """The last test of these machines: one of them is gone."""
    host = several.machines[-1]
    process = several.scheduler.start(*command(several, *MANY_RUNS, "--html", f"{several.folder}/race.html"))
    # preparing starts processes, too; a stack that is up is in a block
    wait_until(lambda: any("gunicorn" in text or "waitress" in text for text in beside_workers(host)))
    time.sleep(2)
    [worker] = [pid for pid, text in host.processes() if "dask_worker" in text]
    os.kill(worker, signal.SIGKILL)
    assert process.wait(timeout=120) in (0, 3)
    launches = report(several)["launches"]
    cut = {launch["block"] for launch in launches if (launch["failure"] or {}).get("code") == "interrupted"}
    machines = {}
    for launch in launches:
        machines.setdefault(launch["block"], set()).add(launch["machine"])
    assert len(cut) == 1
    assert all(len(those) == 1 for those in machines.values())
    assert machines[cut.pop()] == {host.name}
    assert max(block for block, those in machines.items() if "host-1" in those) > 1


def test_a_killed_scheduler_leaves_nothing_on_any_machine(small):
    process = begun(small, *LONG)
    [scheduler] = [pid for pid, text in small.scheduler.processes() if "dask_scheduler" in text]
    os.kill(scheduler, signal.SIGKILL)
    process.wait(timeout=60)
    wait_until(lambda: not beside_workers(small.host))


def test_what_an_engine_saw_that_was_stopped_is_refused(small):
    process = begun(small, *RUNS, "--html", str(small.folder / "race.html"))
    [engine] = [pid for pid, text in small.engine.processes() if "dask_worker" in text]
    until = time.monotonic() + 90
    while process.poll() is None:
        assert time.monotonic() < until, "the race did not end"
        os.kill(engine, signal.SIGSTOP)
        time.sleep(0.5)
        os.kill(engine, signal.SIGCONT)
        time.sleep(1)
    assert "engine stalled" in (small.folder / "race.html").read_text()


def test_bad_clusters_are_named_before_anything_starts(small):
    nowhere = small.scheduler.run(
        PYTHON, "-m", "stackrace", "run", "--bundled", "--cluster", f"tcp://{small.scheduler.address}:1"
    )
    assert nowhere.returncode == 2
    assert "no Dask scheduler answers there" in nowhere.stderr
    [worker] = [pid for pid, text in small.host.processes() if "dask_worker" in text]
    os.kill(worker, signal.SIGTERM)
    wait_until(lambda: not small.host.processes())
    nobody = small.scheduler.run(*command(small))
    assert nobody.returncode == 2
    assert "nobody there hosts stacks" in nobody.stderr


def test_machines_that_are_started_over_ssh_race_and_nothing_of_it_is_left(tmp_path, monkeypatch):
    with lab(tmp_path) as made:
        here = made.machine("here")
        machines = {"host": made.machine("host"), "engine": made.machine("engine", cores="1")}
        ssh_server.make_keys(tmp_path)
        addresses = {name: machine.address for name, machine in machines.items()}
        monkeypatch.setenv("HOME", str(ssh_server.make_home(tmp_path, addresses, 2222)))
        servers = [
            machine.start(*ssh_server.command(tmp_path, machine.address, 2222)) for machine in machines.values()
        ]
        for address in addresses.values():
            wait_until(lambda address=address: not here.run("bash", "-c", f"</dev/tcp/{address}/2222").returncode)
        (tmp_path / "race.toml").write_text(
            '[app]\nbundled = "django"\n[load]\nconcurrency = [4]\nduration = "1s"\n'
            '[race]\nhosts = ["host"]\nengine_hosts = ["engine"]\nrepeats = 2\ntwin = false\n'
            'stacks = ["gunicorn", "waitress"]\n'
        )
        done = here.run(PYTHON, "-m", "stackrace", "run", "race.toml", "--json")
        assert done.stdout, done.stderr
        measured = slices_of(json.loads(done.stdout))
        assert {share["name"] for slice_ in measured for share in slice_["engines"]} == {"engine"}
        for machine, server in zip(machines.values(), servers, strict=True):
            wait_until(
                lambda machine=machine, server=server: {pid for pid, _ in machine.processes()} == {server.pid}
            )
