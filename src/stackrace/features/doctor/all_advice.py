"""All advice on one machine, the most useful first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...base.numbers import percent
from ...base.units import SIZE
from ...measure.probe import physical_cores
from ...measure.resources import Resources
from ...race.preparation.core_shares import split_cores, usable_cores
from ...validity.preflight import nearly_full
from . import kernel_limits, other_load, processor
from .advice import Advice, Change, Gain, advise
from .kernel import THP, Kernel
from .look import Surroundings, look

_SWAPPINESS = "vm.swappiness"
_NEEDED = 256 * 2**20
"""Bytes of one Python stack with a few workers, with some reserve."""
_ROOMY = 1024 * 2**20


def _little_memory(surroundings: Surroundings) -> Advice | None:
    """Return advice if memory is short: all stacks of a block are up. Source: proc_meminfo(5), MemAvailable."""
    if surroundings.memory_free_bytes >= _ROOMY:
        return None
    none = surroundings.memory_free_bytes < _NEEDED
    return advise(
        "memory left",
        seen=f"{SIZE.format(surroundings.memory_free_bytes)} of memory are left",
        threshold="at least 256 MiB, better 1 GiB",
        remedy="end what holds memory, or race fewer stacks at once",
        why="what does not fit is swapped or killed in the middle of a slice",
        gain=Gain.DECISIVE if none else Gain.GREAT,
        command="ps aux --sort=-rss | head",
    )


def _disk_full(surroundings: Surroundings) -> Advice | None:
    """Return advice if the disk for run directories, environments and results is nearly full."""
    none = surroundings.disk_free_bytes < _NEEDED
    if not none and nearly_full(surroundings.disk_bytes, surroundings.disk_free_bytes) is None:
        return None
    used = 1 - surroundings.disk_free_bytes / surroundings.disk_bytes if surroundings.disk_bytes else 1.0
    return advise(
        "disk nearly full",
        seen=f"{SIZE.format(surroundings.disk_free_bytes)} are left where {surroundings.disk} is, "
        f"{percent(used)} are used",
        threshold="at most 80 % used, or 10 GiB left",
        remedy="make room, or set TMPDIR to a folder that has some",
        why="servers that cannot write their logs fail in ways that look like anything else",
        gain=Gain.DECISIVE if none else Gain.LITTLE,
        command=f"du -xh --max-depth=2 {surroundings.disk} | sort -h | tail",
    )


def _swapped(surroundings: Surroundings) -> Advice | None:
    """Return advice if over a tenth of the swap device is used."""
    if surroundings.swap_used_bytes <= surroundings.swap_bytes / 10:
        return None
    return advise(
        "swap used",
        seen=f"{SIZE.format(surroundings.swap_used_bytes)} of memory are swapped out",
        threshold="at most a tenth of the swap device",
        remedy="free memory, then bring it back; it must fit, so this is left to you",
        why="whoever wakes up reads it from disk, in the middle of somebody's slice",
        gain=Gain.SOME,
        command="sudo swapoff -a && sudo swapon -a",
    )


def _swappiness(surroundings: Surroundings) -> Advice | None:
    """Return advice if the kernel swaps eagerly to cache files. Source: Documentation/admin-guide/sysctl/vm.rst."""
    value = surroundings.settings.get(_SWAPPINESS, "")
    if not surroundings.swap_bytes or not value.isdigit() or int(value) <= 10:
        return None
    changes = (Change(key=_SWAPPINESS, before=value, after="1"),)
    return advise(
        "swappiness",
        seen=f"vm.swappiness is {value}, and there is a swap device",
        threshold="at most 10",
        remedy="let the kernel swap only where it must",
        why="stacks that wait for their turn are the first whose memory goes to disk",
        gain=Gain.SOME if surroundings.swap_used_bytes else Gain.LITTLE,
        changes=changes,
    )


def _huge_pages(surroundings: Surroundings) -> Advice | None:
    """Return advice if every process gets huge pages. Source: Documentation/admin-guide/mm/transhuge.rst."""
    if surroundings.settings.get(THP) != "always":
        return None
    changes = (Change(key=THP, before="always", after="madvise"),)
    return advise(
        "huge pages",
        seen="transparent huge pages are always on",
        threshold="madvise: for those who ask",
        remedy="give them to those who ask",
        why="memory per worker then depends on luck, and a kernel thread that compacts memory runs when it likes",
        gain=Gain.LITTLE,
        changes=changes,
    )


ADVISERS: tuple[Callable[[Surroundings], Advice | None], ...] = (
    other_load.other_race,
    _little_memory,
    _disk_full,
    other_load.busy,
    other_load.pressed,
    processor.stolen,
    processor.restless,
    processor.governor,
    kernel_limits.cpu_quota,
    other_load.leftovers,
    processor.turbo,
    other_load.due_soon,
    _swapped,
    processor.slow_clock,
    processor.virtual,
    _swappiness,
    kernel_limits.short_queue,
    kernel_limits.few_ports,
    _huge_pages,
    processor.watchdog,
    other_load.irq_balance,
    other_load.cron,
    other_load.listening,
    kernel_limits.delegation,
)
"""Advisers; equally useful advice is shown in this order."""


@dataclass(frozen=True, slots=True)
class Examination:
    """Result of an examination; ``advice`` begins with what forbids a race and continues by expected gain."""

    surroundings: Surroundings
    advice: tuple[Advice, ...]

    @property
    def forbidden(self) -> bool:
        """True if something must be done before a race may start."""
        return any(advice.forbids for advice in self.advice)

    @property
    def changes(self) -> tuple[Change, ...]:
        """Changes that ``--apply`` would make, each setting once."""
        return tuple({change.key: change for advice in self.advice for change in advice.changes}.values())


def examine(surroundings: Surroundings) -> Examination:
    """Return the advice of every adviser. None concerns address space randomisation, which production has, too."""
    general = (adviser(surroundings) for adviser in ADVISERS)
    every = (*kernel_limits.planned(surroundings), *filter(None, general))
    return Examination(surroundings, tuple(sorted(every, key=lambda advice: list(Gain).index(advice.gain))))


def examine_machine(watch_s: float, concurrency: int, remote_engine: bool = False) -> Examination:
    """Examine this machine for races at ``concurrency`` connections; takes ``watch_s`` seconds.

    With a ``remote_engine``, stacks and engines are on different machines, so each uses every core of its machine.
    """
    usable = usable_cores()
    stacks, engine = (usable, ()) if remote_engine else split_cores(physical_cores(usable))
    cores = Resources(stack_cores=stacks, generator_cores=engine)
    return examine(look(Kernel(), cores=cores, concurrency=concurrency, watch_s=watch_s))
