"""All checks, found in the modules that declare them, and what runs them.

A module's checks are in the order in which it declares them, the modules in the order in which a reader wants their
findings: answers first, then the client, then the surroundings.
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
    machine,
    preflight,
    races,
    stack,
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
    machine,
    cores,
    stack,
    steady,
    launches,
    races,
)

EVERY_CHECK: tuple[Check[Any], ...] = tuple(
    check for module in _MODULES for check in vars(module).values() if isinstance(check, Check)
)

DECLARATIONS: Mapping[str, Declaration] = {check.declaration.id: check.declaration for check in EVERY_CHECK}
"""By id."""


CHECKS: dict[Made, tuple[Check[Any], ...]] = {
    made: tuple(check for check in EVERY_CHECK if made in check.declaration.made and check is not preflight.address)
    for made in Made
}
"""By when they are made. A race dials no name, so that on addresses is not among them; those of a run make sense
where the server is not ours: whatever it uses is not foreign, and its failures are told in the accounting."""

_PASSING = frozenset(check.declaration.id for check in EVERY_CHECK if check.declaration.passing)


def disturbed(findings: Iterable[Finding]) -> bool:
    """Tell whether a slice is refused for a cause that may pass."""
    return any(finding.effect is Effect.INVALIDATES and finding.check in _PASSING for finding in findings)


def taken(findings: Iterable[Finding]) -> bool:
    """Tell whether a slice is refused because others had the stacks' cores."""
    return any(
        finding.effect is Effect.INVALIDATES and finding.check == cores.contention.declaration.id
        for finding in findings
    )


def worth_repeating(findings: Iterable[Finding]) -> bool:
    """Tell whether measuring a slice again may give a better one."""
    return disturbed(findings) or any(finding.effect is Effect.REDOES for finding in findings)


def examine_plan(plan: Preparation) -> Verdict:
    """Run every check on what is planned; an invalid verdict means that the race must not start."""
    return _verdict(Made.START, plan)


def examine(observation: Observation) -> Verdict:
    """Run every check on one slice."""
    return _verdict(Made.SLICE, observation)


def examine_run(observation: Observation) -> Verdict:
    """Run every check on one run of ``stackrace load``."""
    return _verdict(Made.RUN, observation)


def examine_launch(view: LaunchView) -> Verdict:
    """Run every check on a launch that is over; an invalid one keeps all its slices out of the statistics."""
    return _verdict(Made.LAUNCH, view)


def examine_race(view: races.RaceView) -> Verdict:
    """Run every check on a race as a whole; where the verdict is invalid, the race is void."""
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
    """Return warnings; raises LimitError when a limit of the machine forbids a load.

    ``ours`` tells whether the server runs on ``cores``, or wherever its owner likes. ``folder`` is where run
    directories lie; the others are as in ``Preparation``.
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
