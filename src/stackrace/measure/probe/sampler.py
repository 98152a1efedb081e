"""What a launched stack costs, hop by hop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..launch import HopUsage, MemorySample
from .allowance import Allowance
from .connections import database_connections
from .cpu import Accounts, accounts, spent_ns
from .families import Families
from .memory import memory_bytes
from .processes import Process

__all__ = ["Sampler"]


class Sampler:
    """Reads CPU and memory of the hops of one launch; ``hops`` maps their names to their root
    processes, one per instance.

    ``begin`` and ``end`` bracket a slice: call them where its window opens and closes, without the re-warm before
    it, and ``read_machine`` just outside of them. Each costs one scan of the hops' processes, about 0.5 ms. One
    thread may bracket slices while another samples memory; each of the two must be the only one of its kind.
    """

    def __init__(
        self, hops: Mapping[str, Sequence[int]], supervisor_pid: int, allowance: Allowance | None = None
    ) -> None:
        self.allowance = allowance or Allowance()
        self.counts_connections = False
        """Whether samples of memory count connections to databases, too."""
        self._for_cpu = Families(hops, supervisor_pid)
        self._for_memory = Families(hops, supervisor_pid)
        self._before: Mapping[str, Accounts] = {}
        self._memory: Mapping[str, int] = {}

    @property
    def pids(self) -> set[int]:
        """The processes of all hops, as the last look at their CPU time had them."""
        return self._for_cpu.members

    def begin(self) -> None:
        """Read the CPU clocks at the start of a slice."""
        self._before = {hop: accounts(members) for hop, members in self._for_cpu.scan().items()}

    def spent_s(self) -> dict[str, float]:
        """Return the CPU seconds every hop used since ``begin``; memory is left alone, so this is the cheap end."""
        by_hop = self._for_cpu.scan()
        return {
            hop: spent_ns(self._before.get(hop, {}), accounts(members)) / 1e9 for hop, members in by_hop.items()
        }

    def end(self) -> tuple[HopUsage, ...]:
        """Return what every hop used since ``begin``.

        Memory is what the last sample said; a new one is taken when the allowance has it due.
        """
        by_hop = self._for_cpu.scan()
        spent = {hop: spent_ns(self._before.get(hop, {}), accounts(members)) for hop, members in by_hop.items()}
        if not self._memory or self.allowance.pause_s() == 0:
            self.sample_memory(0.0)
        return tuple(self._usage(hop, members, spent[hop]) for hop, members in by_hop.items())

    def sample_memory(self, at_s: float) -> MemorySample:
        """Read every process's memory now; ``at_s`` is that moment, counted from the launch's start."""
        with self.allowance.work():
            scanned = self._for_memory.scan()
            self._memory = {
                hop: sum(memory_bytes(process.pid) for process in members) for hop, members in scanned.items()
            }
            pids = [process.pid for members in scanned.values() for process in members]
            connections = database_connections(pids) if self.counts_connections else None
        return MemorySample(at_s=at_s, pss_bytes=self._memory, connections=connections)

    def _usage(self, hop: str, members: list[Process], cpu_ns: int) -> HopUsage:
        living = [process for process in members if not process.zombie]
        return HopUsage(
            hop=hop,
            cpu_s=cpu_ns / 1e9,
            processes=len(living),
            threads=sum(process.threads for process in living),
            pss_bytes=self._memory.get(hop, 0),
        )
