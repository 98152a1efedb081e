"""A race whose database runs on a machine of its own."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest
from tests.cluster.lab import PYTHON, lab
from tests.cluster.racing import LONG, MANY_RUNS, RUNS, beside_workers, report, slices_of, wait_until

from stackrace.services import services
from stackrace.setup.prepared import prepared
from stackrace.spec.request import RaceRequest

STACKS = ("gunicorn", "waitress")


@pytest.fixture(scope="module", autouse=True)
def postgresql_can_be_had(tmp_path_factory):
    """Skip where it is not installed; its driver is installed here, where there is a network."""
    if missing := services()["postgresql"].missing():
        pytest.skip(missing)
    request = RaceRequest(
        folder=tmp_path_factory.mktemp("driver"), bundled="django", services=("postgresql",), stacks=STACKS
    )
    with prepared(request):
        pass


@pytest.fixture
def made(tmp_path):
    """A scheduler, an engine, a host of stacks, and a machine for the database whose clock is ahead."""
    with lab(tmp_path) as made:
        made.scheduler, made.engine = made.machine("scheduler"), made.machine("engine", cores="1")
        made.host, made.db = made.machine("host"), made.machine("db", cores="1", ahead_s=500)
        roles = {"engine": [made.engine], "stack": [made.host], "service": [made.db]}
        write_race_file(made, made.cluster(made.scheduler, roles))
        yield made


def write_race_file(made, address):
    (made.folder / "race.toml").write_text(
        '[app]\nbundled = "django"\nservices = ["postgresql"]\n[workload]\nurls = ["/random-row/"]\n'
        f'[load]\nconcurrency = [4]\n[race]\ncluster = "{address}"\nstacks = ["gunicorn", "waitress"]\n'
    )


def command(made, *flags):
    store = f"sqlite:///{made.folder}/races.sqlite3"
    return [PYTHON, "-m", "stackrace", "run", "race.toml", "--store", store, *flags]


def databases(machine):
    return [text for text in beside_workers(machine) if "postgres" in text]


def variable(pid, name):
    with suppress(OSError):
        for word in Path(f"/proc/{pid}/environ").read_text(errors="replace").split("\0"):
            if word.startswith(f"{name}="):
                return word.partition("=")[2]
    return None


def assert_used_postgresql(slice_):
    [spent] = [usage for usage in slice_["usage"] if usage["hop"] == "postgresql"]
    assert spent["cpu_s"] > 0
    assert spent["processes"] > 1


def test_the_database_runs_on_its_own_machine_and_what_it_spends_is_in_every_slice(made):
    process = made.scheduler.start(*command(made, *RUNS, "--html", f"{made.folder}/race.html"))
    wait_until(lambda: any("gunicorn" in text or "waitress" in text for text in beside_workers(made.host)))
    assert databases(made.db)
    assert not databases(made.host)
    password = next(filter(None, (variable(pid, "PGPASSWORD") for pid, _ in made.host.processes())))
    assert len(password) == 32
    assert process.wait(timeout=180) in (0, 3), (made.folder / "scheduler.log").read_text()
    for file in ("races.sqlite3", "race.html", "scheduler.log"):
        assert password.encode() not in (made.folder / file).read_bytes()
    measured = slices_of(report(made))
    assert measured
    for slice_ in measured:
        assert_used_postgresql(slice_)
        assert slice_["counts"]["ok"] > 0
    wait_until(lambda: not any(beside_workers(machine) for machine in made.machines))


def test_a_killed_database_machine_ends_the_race_which_can_go_on(made):
    process = made.scheduler.start(*command(made, *LONG))
    wait_until(lambda: any("gunicorn" in text or "waitress" in text for text in beside_workers(made.host)))
    [worker] = [pid for pid, text in made.db.processes() if "dask_worker" in text]
    os.kill(worker, signal.SIGKILL)
    assert process.wait(timeout=120) == 4
    wait_until(lambda: not beside_workers(made.host))
    wait_until(lambda: not made.db.processes())
    said = (made.folder / "scheduler.log").read_text()
    assert "db (tcp://" in said
    assert "was lost" in said
    assert "--resume" in said


def test_a_killed_coordinator_leaves_no_database(made):
    process = made.scheduler.start(*command(made, *LONG))
    wait_until(lambda: databases(made.db))
    os.killpg(process.pid, signal.SIGKILL)
    wait_until(lambda: not beside_workers(made.db))
    wait_until(lambda: not beside_workers(made.host))


def test_each_host_has_its_own_database_machine_and_leaves_the_race_with_it(tmp_path):
    with lab(tmp_path) as made:
        made.scheduler = made.machine("scheduler")
        hosts = [made.machine("host-1", ahead_s=77), made.machine("host-2", cores="1")]
        databases_of = [made.machine("db-1", cores="1"), made.machine("db-2", ahead_s=500)]
        write_race_file(made, made.cluster(made.scheduler, {"stack": hosts, "service": databases_of}))
        process = made.scheduler.start(*command(made, *MANY_RUNS))
        wait_until(lambda: all(map(beside_workers, hosts)) and all(map(databases, databases_of)))
        wait_until(lambda: any("gunicorn" in text or "waitress" in text for text in beside_workers(hosts[1])))
        time.sleep(4)
        [worker] = [pid for pid, text in databases_of[1].processes() if "dask_worker" in text]
        os.kill(worker, signal.SIGKILL)
        assert process.wait(timeout=180) in (0, 3), (made.folder / "scheduler.log").read_text()
        launches = report(made)["launches"]
        cut = {launch["block"] for launch in launches if (launch["failure"] or {}).get("code") == "interrupted"}
        machines = {launch["block"]: launch["machine"] for launch in launches}
        assert len(cut) == 1
        assert machines[cut.pop()] == "host-2"
        measured = [slice_ for launch in launches if not launch["failure"] for slice_ in launch["slices"]]
        assert measured
        for slice_ in measured:
            assert_used_postgresql(slice_)
        wait_until(lambda: not any(beside_workers(machine) for machine in made.machines))
