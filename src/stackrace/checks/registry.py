"""All checks on one slice, in one place."""

from __future__ import annotations

from collections.abc import Callable

from ..model.verdict import Finding, Verdict
from . import answers, connections, cores, generator, littles_law, machine, network, stack
from .observation import Observation

__all__ = ["SLICE_CHECKS", "examine"]

SLICE_CHECKS: tuple[Callable[[Observation], Finding | None], ...] = (
    answers.nothing_right,
    answers.wrong_body,
    answers.unexpected_status,
    answers.failures,
    answers.timeouts,
    answers.books_unbalanced,
    generator.generator_busy,
    generator.generator_waited,
    generator.engine_ceiling,
    littles_law.dead_time,
    connections.established,
    connections.reconnects,
    connections.close_ignored,
    connections.fairness,
    network.listen_overflows,
    network.syn_retransmits,
    network.retransmits,
    machine.swapping,
    machine.major_faults,
    machine.throttled,
    machine.steal,
    machine.foreign_cpu,
    machine.clock_stepped,
    cores.idle_stacks_busy,
    cores.shared_cores,
    stack.unused_cpu,
    stack.debug_on,
)
"""In the order in which a reader wants them: answers first, then the client, then the surroundings."""


def examine(observation: Observation) -> Verdict:
    """Run every check on one slice."""
    return Verdict.of(check(observation) for check in SLICE_CHECKS)
