"""Is there room on the disk that run directories lie on?"""

from __future__ import annotations

from ..base.numbers import percent
from ..base.verdict import Effect, Finding, Unit
from .declaration import Declaration, Made
from .launch_view import LaunchView
from .preparation import Preparation

__all__ = ["disk_nearly_full", "launch_disk_nearly_full", "nearly_full"]

_FULL = 0.80
_ROOMY_BYTES = 10 * 2**30

_NEARLY_FULL = Declaration(
    id="disk-nearly-full",
    number=32,
    title="disk nearly full",
    made=(Made.START, Made.LAUNCH),
    effects=(Effect.WARNS,),
    unit=Unit.SHARE,
    threshold=f"at most {percent(_FULL)}, or {_ROOMY_BYTES >> 30} GiB left",
    rule=f"at most {percent(_FULL)}, or {_ROOMY_BYTES >> 30} GiB left",
    seen="the disk of the run directory is {value:percent} full, {free_bytes:gib} GiB are left",
    remedy="free some space, or set TMPDIR to a folder on a roomier disk",
    source="statvfs(3)",
)


@_NEARLY_FULL
def disk_nearly_full(plan: Preparation) -> Finding | None:
    """The file system of the run directories is nearly full.

    A share alone would accuse large disks with hundreds of GiB to spare.
    """
    return nearly_full(plan.disk_bytes, plan.disk_free_bytes)


@_NEARLY_FULL
def launch_disk_nearly_full(view: LaunchView) -> Finding | None:
    """The same when the launch is over."""
    return nearly_full(view.aftermath.disk_bytes, view.aftermath.disk_free_bytes)


def nearly_full(total_bytes: int, free_bytes: int) -> Finding | None:
    """Judge a file system of ``total_bytes``, 0 when unknown."""
    if not total_bytes or free_bytes >= _ROOMY_BYTES or free_bytes >= (1 - _FULL) * total_bytes:
        return None

    return disk_nearly_full.finding(value=1 - free_bytes / total_bytes, limit=_FULL, free_bytes=free_bytes)
