"""A race whose database runs on a machine of its own."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest
from tests.cluster.racing import (
    LONG,
    RUNS,
    assert_used_postgresql,
    beside_workers,
    killed,
    report,
    slices_of,
    wait_until,
    with_database,
)

pytestmark = pytest.mark.usefixtures("postgresql")


def databases(machine):
    return [text for text in beside_workers(machine) if "postgres" in text]


def variable(pid, name):
    with suppress(OSError):
        for word in Path(f"/proc/{pid}/environ").read_text(errors="replace").split("\0"):
            if word.startswith(f"{name}="):
                return word.partition("=")[2]
    return None


def test_the_database_runs_on_its_own_machine_and_what_it_spends_is_in_every_slice(small):
    process = small.scheduler.start(*with_database(small, *RUNS, "--html", f"{small.folder}/race.html"))
    wait_until(lambda: any("gunicorn" in text or "waitress" in text for text in beside_workers(small.host)))
    assert databases(small.db)
    assert not databases(small.host)
    password = next(filter(None, (variable(pid, "PGPASSWORD") for pid, _ in small.host.processes())))
    assert len(password) == 32
    assert process.wait(timeout=300) in (0, 3), (small.folder / "scheduler.log").read_text()
    for file in ("races.sqlite3", "race.html", "scheduler.log"):
        assert password.encode() not in (small.folder / file).read_bytes()
    measured = slices_of(report(small))
    assert measured
    for slice_ in measured:
        assert_used_postgresql(slice_)
        assert slice_["counts"]["ok"] > 0
    wait_until(lambda: not any(beside_workers(machine) for machine in small.machines))


def test_a_killed_database_machine_ends_the_race_which_can_go_on(small):
    process = small.scheduler.start(*with_database(small, *LONG))
    wait_until(lambda: any("gunicorn" in text or "waitress" in text for text in beside_workers(small.host)))
    said = killed(small.db, process)
    wait_until(lambda: not beside_workers(small.host))
    wait_until(lambda: not small.db.processes())
    assert "db (tcp://" in said
    assert "was lost" in said


def test_a_killed_coordinator_leaves_no_database(small):
    process = small.scheduler.start(*with_database(small, *LONG))
    wait_until(lambda: databases(small.db))
    os.killpg(process.pid, signal.SIGKILL)
    wait_until(lambda: not beside_workers(small.db))
    wait_until(lambda: not beside_workers(small.host))
