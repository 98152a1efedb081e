"""Races in the lab, as users start them."""

from __future__ import annotations

import json
import os
import signal
import time

from tests.conftest import BRIEF
from tests.features.cluster.lab import PYTHON

__all__ = [
    "FEW_RUNS",
    "LONG",
    "MANY_RUNS",
    "RUNS",
    "begun",
    "beside_workers",
    "command",
    "killed",
    "member",
    "race",
    "report",
    "slices_of",
    "wait_until",
]

RUNS = ("--repeats", "2", "--duration", "1s", "--no-twin")
"""Flags of a race that ends after so many runs, however long they take to launch: a budget may be too short."""
FEW_RUNS = ("--repeats", "1", "--requests", "100", "--no-twin")
"""Flags of a race that only has to come about."""
MANY_RUNS = ("--repeats", "5", "--duration", "1s", "--no-twin")
"""Flags of a race that goes on for some blocks after one of its machines is lost."""
LONG = ("--repeats", "1000", "--duration", "1s", "--no-twin")
"""Flags of a race that something else ends."""


def command(made, *flags):
    return [
        *map(str, BRIEF), "run", "--bundled", "--cluster", made.address, "--stack", "gunicorn:workers=1",
        "--stack", "waitress", "-c", "4", "--store", f"sqlite:///{made.folder}/races.sqlite3", *flags,
    ]  # fmt: skip


def race(made, *flags):
    run = made.scheduler.run(*command(made, *flags, "--json"))
    assert run.stdout, run.stderr
    return json.loads(run.stdout)


def report(made):
    """Return the document of the race that was raced last."""
    store = f"sqlite:///{made.folder}/races.sqlite3"
    return json.loads(made.scheduler.run(PYTHON, "-m", "stackrace", "report", "--json", "--store", store).stdout)


def slices_of(document):
    return [slice_ for launch in document["launches"] for slice_ in launch["slices"]]


def beside_workers(machine):
    return [text for _, text in machine.processes() if "dask_worker" not in text and "dask_scheduler" not in text]


def member(machine):
    """Return the process id of the machine's worker, or scheduler."""
    [pid] = [pid for pid, text in machine.processes() if "dask_worker" in text or "dask_scheduler" in text]
    return pid


def killed(machine, process):
    """Kill the member that is ``machine``, of which the race dies; return what the race said."""
    os.kill(member(machine), signal.SIGKILL)
    assert process.wait(timeout=1800) == 4
    said = (machine.lab.folder / "scheduler.log").read_text()
    assert "--resume" in said
    return said


def wait_until(condition, timeout_s=1800, every_s=0.2):
    until = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < until, "it never came about"
        time.sleep(every_s)


def begun(made, *flags):
    """Start a race and wait until its stacks run on the host."""
    process = made.scheduler.start(*command(made, *flags))
    wait_until(lambda: any("gunicorn" in text or "waitress" in text for text in beside_workers(made.host)))
    return process
