"""All checks on one slice or one run, in one place."""

from __future__ import annotations

from collections.abc import Iterable

from ..base.verdict import Effect, Finding, Verdict
from . import (
    answers,
    caches,
    clocks,
    connections,
    cores,
    engines,
    generator,
    machine,
    network,
    open_loop,
    retries,
    speed,
    stack,
    steady,
    written,
)
from .declaration import Check, Made
from .observation import Observation

__all__ = ["RUN_CHECKS", "SLICE_CHECKS", "disturbed", "examine", "examine_run", "taken", "worth_repeating"]

_ABOUT_THE_ENGINE = (
    generator.generator_busy,
    generator.generator_waited,
    generator.engine_ceiling,
    connections.ports_exhausted,
    connections.descriptors_exhausted,
    open_loop.lag,
    open_loop.arrivals,
    open_loop.overload,
    open_loop.pool_limit,
    generator.dead_time,
    connections.established,
    connections.reconnects,
    connections.close_ignored,
    retries.retries,
    connections.fairness,
)
_ABOUT_SEVERAL_ENGINES = (
    engines.engine_lost,
    engines.engine_late,
    engines.engine_stalled,
    engines.engine_network,
    engines.network_full,
)
_ABOUT_CACHES = (caches.nonces_lost, caches.cached_answers, caches.stale_dates)
_ABOUT_THE_NETWORK = (
    network.listen_overflows,
    network.syn_retransmits,
    network.latency_lumps,
    network.retransmits,
)

SLICE_CHECKS: tuple[Check[Observation], ...] = (
    answers.nothing_right,
    answers.wrong_body,
    answers.changing_page,
    answers.unexpected_status,
    answers.failures,
    answers.timeouts,
    answers.unfinished_requests,
    answers.books_unbalanced,
    answers.bytes_unaccounted,
    *_ABOUT_CACHES,
    retries.hidden_retries,
    *_ABOUT_THE_ENGINE,
    *_ABOUT_SEVERAL_ENGINES,
    *_ABOUT_THE_NETWORK,
    machine.swapping,
    machine.major_faults,
    machine.throttled,
    machine.steal,
    machine.foreign_cpu,
    machine.contention,
    speed.machine_speed,
    speed.cpu_frequency,
    speed.overheated,
    clocks.clock_stepped,
    clocks.unstable_clock,
    cores.beyond_its_cores,
    cores.idle_stacks_busy,
    cores.shared_cores,
    stack.unused_cpu,
    stack.debug_on,
    steady.not_steady,
    written.access_log,
    written.logs_grow,
)
"""In the order in which a reader wants them: answers first, then the client, then the surroundings."""

RUN_CHECKS: tuple[Check[Observation], ...] = tuple(
    check for check in SLICE_CHECKS if Made.RUN in check.declaration.made
)
"""Those that make sense where the server is not ours: whatever it uses is not foreign, and its failures are told
in the accounting."""


_PASSING = frozenset(check.declaration.id for check in SLICE_CHECKS if check.declaration.passing)


def disturbed(findings: Iterable[Finding]) -> bool:
    """Tell whether a slice is refused for a cause that may pass."""
    return any(finding.effect is Effect.INVALIDATES and finding.check in _PASSING for finding in findings)


def taken(findings: Iterable[Finding]) -> bool:
    """Tell whether a slice is refused because others had the stacks' cores."""
    return any(
        finding.effect is Effect.INVALIDATES and finding.check == machine.contention.declaration.id
        for finding in findings
    )


def worth_repeating(findings: Iterable[Finding]) -> bool:
    """Tell whether measuring a slice again may give a better one."""
    return disturbed(findings) or any(finding.effect is Effect.REDOES for finding in findings)


def examine(observation: Observation) -> Verdict:
    """Run every check on one slice."""
    return Verdict.of(check(observation) for check in SLICE_CHECKS)


def examine_run(observation: Observation) -> Verdict:
    """Run every check on one run of ``stackrace load``."""
    return Verdict.of(check(observation) for check in RUN_CHECKS)
