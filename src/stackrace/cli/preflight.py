"""Whether this machine can take the race at all."""

from __future__ import annotations

import shutil
from pathlib import Path

from ..checks import RACE, Preparation, Words, preflight
from ..model.errors import InputError
from ..model.load import Load
from ..model.race import Budget
from ..model.verdict import Effect
from ..probe import network_limits

__all__ = ["check_limits"]


def check_limits(
    loads: tuple[Load, ...],
    cores: Budget,
    *,
    words: Words = RACE,
    sockets_each: int = 2,
    over_tcp: bool = True,
    folder: Path | None = None,
) -> tuple[str, ...]:
    """Return warnings, one sentence each; raises InputError when a limit of the machine forbids a load.

    ``words``, ``sockets_each`` and ``over_tcp`` are as in ``Preparation``; ``folder`` is where run directories lie.
    """
    limits = network_limits()
    disk = shutil.disk_usage(folder) if folder else None
    verdict = preflight(
        Preparation(
            loads=loads,
            cores=cores,
            machine_cores=len(cores.stack_cores) + len(cores.generator_cores),
            descriptors=limits.descriptors,
            descriptors_hard=limits.descriptors_hard,
            ephemeral_ports=limits.ephemeral_ports,
            time_wait=limits.time_wait,
            tw_reuse=limits.tw_reuse,
            accept_queue=limits.accept_queue,
            connections_per_s=max((load.rate_per_s or 0.0 for load in loads if not load.keep_alive), default=0.0),
            disk_bytes=disk.total if disk else 0,
            disk_free_bytes=disk.free if disk else 0,
            sockets_each=sockets_each,
            over_tcp=over_tcp,
            words=words,
        )
    )
    for finding in verdict.findings:
        if finding.effect is not Effect.WARNS:
            key = "--concurrency" + ("" if words.concurrency == "--concurrency" else f" (or {words.concurrency})")
            raise InputError(f"{key}: {finding.seen}, {finding.threshold}; {finding.remedy}")
    return tuple(f"{finding.seen}: {finding.remedy}" for finding in verdict.findings)
