"""All checks, found in the modules that declare them, and the functions that run them.

A module's checks are in the order in which it declares them. The modules are in the order in which a reader wants
their findings: answers first, then the client, then the surroundings.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..base.errors import LimitError
from ..base.verdict import Effect, Finding, Verdict
from ..measure.load import Load
from ..measure.probe import available_bytes, network_limits, physical_cores
from ..measure.resources import Resources
from . import (
    answers,
    caches,
    connections,
    cores,
    engines,
    generator,
    launches,
    machine_state,
    preflight,
    races,
    stack_work,
    steady,
)
from .declaration import Check, Declaration, Made
from .observation import LaunchView, Observation, Preparation

_MODULES = (
    preflight,
    answers,
    caches,
    generator,
    connections,
    engines,
    machine_state,
    cores,
    stack_work,
    steady,
    launches,
    races,
)

EVERY_CHECK: tuple[Check[Any], ...] = tuple(
    check for module in _MODULES for check in vars(module).values() if isinstance(check, Check)
)

DECLARATIONS: Mapping[str, Declaration] = {check.declaration.id: check.declaration for check in EVERY_CHECK}
"""Declarations by id."""


CHECKS: dict[Made, tuple[Check[Any], ...]] = {
    made: tuple(check for check in EVERY_CHECK if made in check.declaration.made and check is not preflight.address)
    for made in Made
}
"""Checks by the moment at which they are made. The check on addresses is not among them, since a race dials no
name. The checks of a run make sense for a server that Stackrace did not start: its CPU time does not count as
foreign, and the accounting reports its failures."""

_PASSING = frozenset(check.declaration.id for check in EVERY_CHECK if check.declaration.passing)


def disturbed(findings: Iterable[Finding]) -> bool:
    """Return True if a slice is refused for a cause that may pass."""
    return any(finding.effect is Effect.INVALIDATES and finding.check in _PASSING for finding in findings)


def cores_taken(findings: Iterable[Finding]) -> bool:
    """Return True if a slice is refused because others had the stacks' cores."""
    return any(
        finding.effect is Effect.INVALIDATES and finding.check == cores.contention.declaration.id
        for finding in findings
    )


def worth_repeating(findings: Iterable[Finding]) -> bool:
    """Return True if measuring a slice again may give a better one."""
    return disturbed(findings) or any(finding.effect is Effect.REDOES for finding in findings)


def examine_plan(plan: Preparation) -> Verdict:
    """Return the verdict of every check on a plan; if it is invalid, the race must not start."""
    return _verdict(Made.START, plan)


def examine(observation: Observation) -> Verdict:
    """Return the verdict of every check on one slice."""
    return _verdict(Made.SLICE, observation)


def examine_run(observation: Observation) -> Verdict:
    """Return the verdict of every check on one run of ``stackrace load``."""
    return _verdict(Made.RUN, observation)


def examine_launch(view: LaunchView) -> Verdict:
    """Return the verdict of every check on a finished launch; if it is invalid, none of its slices counts."""
    return _verdict(Made.LAUNCH, view)


def examine_race(view: races.RaceView) -> Verdict:
    """Return the verdict of every check on a race as a whole; if it is invalid, the race is void."""
    return _verdict(Made.RACE, view)


def _verdict(made: Made, view: object) -> Verdict:
    return Verdict.of(check(view) for check in CHECKS[made])


def check_limits(
    loads: tuple[Load, ...],
    cores: Resources,
    *,
    ours: bool = True,
    sockets_each: int = 2,
    over_tcp: bool = True,
    folder: Path | None = None,
    stacks: int = 1,
) -> tuple[Finding, ...]:
    """Return warnings; raise LimitError if a limit of the machine forbids a load.

    ``ours`` is True if the server runs on ``cores``, False if it runs anywhere. ``folder`` holds the run
    directories; the other arguments are as in ``Preparation``.
    """
    disk = shutil.disk_usage(folder) if folder else None
    verdict = examine_plan(
        Preparation(
            loads=loads,
            cores=cores,
            limits=network_limits(),
            connections_per_s=max((load.rate_per_s or 0.0 for load in loads if not load.keep_alive), default=0.0),
            disk_bytes=disk.total if disk else 0,
            disk_free_bytes=disk.free if disk else 0,
            sockets_each=sockets_each,
            over_tcp=over_tcp,
            stacks=stacks,
            memory_bytes=available_bytes(),
            threads=physical_cores({*cores.stack_cores, *cores.generator_cores}) if ours else (),
        )
    )
    for finding in verdict.findings:
        if finding.effect is not Effect.WARNS:
            raise LimitError(finding)
    return verdict.findings
