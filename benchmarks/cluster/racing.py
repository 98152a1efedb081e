"""The lab's machines, and races on them of stacks around a page that sleeps: what each delivers is known."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.features.cluster.lab import PYTHON, Lab, Machine, lab, why_no_lab

from stackrace.app.app import Entry, EntryKind
from stackrace.race.preparation.prepared import prepared
from stackrace.race.request.request import RaceRequest
from stackrace.stacks.stack import original_path

from .app.sleeping import SLEEP_S
from .inside import race

INSIDE = Path(__file__).with_name("inside.py")


@contextmanager
def laboratory() -> Iterator[Lab]:
    """Yield machines to be; exits with a word where none can be made."""
    why = why_no_lab()
    if why:
        raise SystemExit(f"no machines can be made: {why}")
    with tempfile.TemporaryDirectory() as folder, lab(Path(folder)) as made:
        yield made


def inside(machine: Machine, what: str, address: str, number: int, timeout_s: float = 580.0) -> Any:
    """Return what `inside` measures on ``machine``; what it races is installed before, where there is a network."""
    with tempfile.TemporaryDirectory() as folder, prepared(race(Path(folder))):
        pass
    run = machine.run(PYTHON, str(INSIDE), what, address, str(number), timeout_s=timeout_s)
    if run.returncode:
        raise SystemExit(run.stderr)
    return json.loads(run.stdout)


def beside_workers(machine: Machine) -> list[str]:
    """Return the command lines of what runs there beside Dask."""
    return [text for _, text in machine.processes() if "dask_worker" not in text and "dask_scheduler" not in text]


APP = Path(__file__).with_name("app")
CONNECTIONS = 4
STACKS = {"gunicorn:class=gthread,workers=1,threads=4": 4, "waitress:threads=3": 3, "cheroot:threads=2": 2}
"""How often each answers while the page sleeps once."""
SLOWER, FASTER = 0.5, 0.05
"""Two cores stand for all machines, so threads may wake late; a short window may hold one answer of each more."""
LONGEST_S = 0.2
"""TCP waits that long at least when something broke: no answer takes it otherwise."""


def install() -> None:
    """Build what the stacks need: the lab's machines have no way to a package index."""
    entry = Entry(kind=EntryKind.WSGI, target="sleeping:app")
    with prepared(RaceRequest(folder=APP, entry=entry, python=Path(PYTHON), stacks=tuple(STACKS))):
        pass


def command(lab: Lab, address: str, *flags: str) -> list[str]:
    """Return a race of all stacks on the cluster, kept in the lab's store."""
    stacks = [word for stack in STACKS for word in ("--stack", stack)]
    return [
        PYTHON, "-m", "stackrace", "run", "--project", str(APP), "--wsgi", "sleeping:app", "--python", PYTHON,
        "--no-current", "--cluster", address, *stacks, "-c", str(CONNECTIONS), *store(lab), *flags,
    ]  # fmt: skip


def resume(lab: Lab) -> list[str]:
    """Return what goes on with the lab's last race."""
    return [PYTHON, "-m", "stackrace", "run", "--resume", *store(lab)]


def store(lab: Lab) -> tuple[str, str]:
    """Return where the lab's races are kept."""
    return "--store", f"sqlite:///{lab.folder}/races.sqlite3"


def report_of(lab: Lab, machine: Machine) -> Mapping[str, Any]:
    """Return the last race's document."""
    run = machine.run(PYTHON, "-m", "stackrace", "report", "--json", *store(lab))
    if run.returncode:
        raise SystemExit(run.stderr)
    found: Mapping[str, Any] = json.loads(run.stdout)
    return found


def counted(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give the slices that count, each with its stack."""
    for launch in document["launches"]:
        if (launch["failure"] or {}).get("code") != "interrupted":
            yield from ((launch["stack"], slice_) for slice_ in launch["slices"] if slice_["valid"])


def wrong_figures(document: Mapping[str, Any]) -> list[str]:
    """Return what slices that count say that cannot be."""
    found = []
    for stack, slice_ in counted(document):
        most = STACKS[original_path(stack)] / SLEEP_S
        rate, longest_s = slice_["throughput_per_s"], slice_["latency"]["max_s"] or 0.0
        if not most * (1 - SLOWER) <= rate <= most * (1 + FASTER) or longest_s > LONGEST_S:
            found.append(f"{stack}: {rate:.0f} requests per second of {most:.0f}, {longest_s:.2f} s the longest")
    return found
