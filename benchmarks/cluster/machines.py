"""The lab's machines as the figures need them, and Stackrace run on them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.features.cluster.lab import PYTHON, Lab, Machine, lab, why_no_lab

from stackrace.race.preparation.prepared import prepared

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
