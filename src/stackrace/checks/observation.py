"""Everything the checks may look at, for one slice of a race or one run of ``stackrace load``."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.host import MachineDelta
from ..model.launch import HopUsage
from ..model.load import Load, LoadResult
from ..model.race import Budget
from ..model.stack import Stack
from .words import RACE, Words

__all__ = ["Observation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One stretch of load as it was seen from all sides.

    ``stack`` is None where the server is not ours and nothing is known of it.
    ``usage`` are the hops of the stack under load and the services it needs; ``idle_cpu_s`` is what all other
    stacks that are up spent meanwhile. ``machine`` brackets the slice. ``ceiling_per_s`` is the engine's own
    limit on this machine and ``before_per_s`` the same stack's throughput at the next lower concurrency, both
    None when unknown. ``slow`` holds the known latencies above half a second, as pairs of seconds and their
    number. ``log_bytes`` is what the stack wrote into its run
    directory meanwhile. ``served`` is how often its app was asked by its own count (None: it has none, or others
    answer, too), and ``served_apart_s`` how far the beginning of that count lies from the load's. ``debug`` tells
    whether the app runs in its debug mode, ``pauses`` whether connections rest by design (think times). ``words``
    name the knobs in remedies.
    """

    stack: Stack | None
    load: Load
    result: LoadResult
    usage: tuple[HopUsage, ...]
    machine: MachineDelta
    cores: Budget
    idle_cpu_s: float = 0.0
    generator_threads: int = 1
    ceiling_per_s: float | None = None
    before_per_s: float | None = None
    slow: tuple[tuple[float, int], ...] = ()
    log_bytes: int = 0
    served: int | None = None
    served_apart_s: float = 0.0
    debug: bool = False
    pauses: bool = False
    words: Words = RACE

    @property
    def stack_cpu_s(self) -> float:
        """CPU seconds of the stack under load."""
        return sum(hop.cpu_s for hop in self.usage)

    @property
    def answered(self) -> int:
        """Requests that got an answer, right or wrong."""
        counts = self.result.counts
        return counts.ok + counts.non2xx + counts.failed.get("body", 0)

    @property
    def tried(self) -> int:
        """Requests with a known fate: answered, failed or timed out."""
        return self.result.counts.ok + self.result.counts.errors
