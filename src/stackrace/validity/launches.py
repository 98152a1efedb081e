"""All checks on one launch, made when it is over. An invalid one keeps all its slices out of the statistics."""

from __future__ import annotations

from ..base.verdict import Verdict
from . import configuration, disk, growth, leftovers
from .declaration import Check
from .launch_view import LaunchView

__all__ = ["LAUNCH_CHECKS", "LaunchView", "examine_launch"]

LAUNCH_CHECKS: tuple[Check[LaunchView], ...] = (
    leftovers.leftover_listener,
    leftovers.leftover_processes,
    leftovers.logs_complain_of_ports,
    leftovers.logs_complain_of_files,
    growth.launch_not_steady,
    growth.memory_grows,
    disk.launch_disk_nearly_full,
    configuration.other_configuration,
    configuration.reloader,
)


def examine_launch(view: LaunchView) -> Verdict:
    """Run every check on a launch that is over."""
    return Verdict.of(check(view) for check in LAUNCH_CHECKS)
