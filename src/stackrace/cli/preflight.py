"""Whether this machine can take the race at all."""

from __future__ import annotations

from ..checks import Preparation, preflight
from ..model.errors import InputError
from ..model.load import Load
from ..model.race import Budget
from ..model.verdict import Effect
from ..probe import network_limits

__all__ = ["check_limits"]


def check_limits(loads: tuple[Load, ...], cores: Budget) -> tuple[str, ...]:
    """Return warnings, one sentence each; raises InputError when a limit of the machine forbids a load."""
    limits = network_limits()
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
        )
    )
    for finding in verdict.findings:
        if finding.effect is not Effect.WARNS:
            raise InputError(
                f"--concurrency (or [load] concurrency): {finding.seen}, {finding.threshold}; {finding.remedy}"
            )
    return tuple(f"{finding.seen}: {finding.remedy}" for finding in verdict.findings)
