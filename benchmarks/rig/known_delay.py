"""The known-delay server in a process of its own, and the truth it tells at its end."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from array import array
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from .cargo import example


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """The server's own stamps in seconds: how long its answers took, and what it left unanswered."""

    count: int
    mean: float
    p50: float
    p90: float
    p99: float
    p999: float
    max: float
    arrived: int
    unanswered: int
    unrecorded: int
    first_arrival: float
    last_departure: float


class KnownDelay:
    """Started on entry and ended on exit; ``address`` holds meanwhile, ``truth`` and ``arrivals_ns`` afterwards."""

    address: str
    truth: Truth
    arrivals_ns: array[int]

    def __init__(self, *, core: int, delay: str = "constant:0", seed: int = 0, stall: str | None = None) -> None:
        """``delay`` and ``stall`` as the server's command line takes them."""
        self._command = [example("known_delay"), "--core", str(core), "--delay", delay, "--seed", str(seed)]
        if stall is not None:
            self._command += ["--stall", stall]

    def __enter__(self) -> Self:
        """Return once it listens."""
        self._folder = tempfile.TemporaryDirectory()
        self._arrivals = Path(self._folder.name, "arrivals")
        command = [*self._command, "--arrivals", str(self._arrivals)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip()
        if not self.address:
            self._process.wait()
            self._folder.cleanup()
            sys.exit("the known-delay server did not start; it says why above")
        return self

    def __exit__(self, *raised: type[BaseException] | BaseException | TracebackType | None) -> None:
        """End it and keep what it knows."""
        self._process.terminate()
        output, _ = self._process.communicate(timeout=60)
        try:
            self.truth = Truth(**json.loads(output))
            self.arrivals_ns = array("Q", self._arrivals.read_bytes())
            if sys.byteorder == "big":
                self.arrivals_ns.byteswap()
        finally:
            self._folder.cleanup()
