"""Runs one generator for one job, whichever it is."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from .machine import await_quiet
from .process import Ended, Pause, measure
from .seen import Job, NotUnderstoodError, Seen

_PATIENCE_S = 45.0
"""Beyond the job's own length: ab gives a silent server 30 seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator:
    """``command`` states a job for the executable ``tool``; ``parse`` reads what came of it.

    Both may use the folder, which is also the generator's home: it is private and lasts for one run.
    """

    name: str
    tool: str
    command: Callable[[Job, Path], list[str]]
    parse: Callable[[Ended, Path], Seen]

    @property
    def is_installed(self) -> bool:
        """Whether it can be run here."""
        return shutil.which(self.tool) is not None


def run(generator: Generator, job: Job, pause: Pause | None = None) -> Seen:
    """Play ``job``. A generator that fails or hangs has seen nothing, and its note says so."""
    await_quiet(job.address)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = generator.command(job, folder)
        patience_s = job.seconds + (pause.for_s if pause else 0) + _PATIENCE_S
        ended = measure(command, core=job.core, patience_s=patience_s, pause=pause, environment={"HOME": name})
        if ended.timed_out:
            return Seen(cpu_s=ended.cpu_s, note=f"hung; killed after {patience_s:.0f} s")
        try:
            seen = generator.parse(ended, folder)
        except (NotUnderstoodError, OSError, LookupError, ValueError) as error:
            return Seen(cpu_s=ended.cpu_s, note=_ending(ended) or f"output not understood: {error!r}")
        return seen if seen.cpu_s is not None else replace(seen, cpu_s=ended.cpu_s)


def _ending(ended: Ended) -> str:
    """Return what a generator said when it failed: the last line, which names the cause in all of them."""
    if ended.status == 0:
        return ""
    lines = (ended.complaints.strip() or ended.output.strip()).splitlines()
    return f"exit status {ended.status}: {lines[-1].strip()[:100] if lines else 'no output'}"
