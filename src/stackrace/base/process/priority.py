"""Priorities of processes. Standard library only, because the supervisor imports this module.

Engine, stacks, services and all other programs of a race have the same priority, above the priority of other
programs. A nice value weighs a thread against the other threads of its scheduling group. Without control groups,
Linux makes such a group of every session (autogroup), and weighs the groups against each other; so both are raised.
Real-time scheduling is never used: other programs still get some time.

Source: sched(7), "The nice value and group scheduling" and "The autogroup feature"; cgroup-v2.rst, "cpu.weight".
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

from .processes import pids, read

NICE = -20
"""Highest priority of a normal thread: 87 times the usual weight."""

_TRIES, _AGAIN_S = 250, 0.02
_AUTOGROUP = re.compile(r"(/autogroup-\d+) nice (-?\d+)")


def can_raise() -> bool:
    """Tell whether this process may raise priorities: root, CAP_SYS_NICE, or a limit that allows it."""
    usual = os.getpriority(os.PRIO_PROCESS, 0)
    try:
        os.setpriority(os.PRIO_PROCESS, 0, NICE)
    except OSError:
        return False
    os.setpriority(os.PRIO_PROCESS, 0, usual)
    return True


def raise_process(pid: int, nice: int = NICE) -> None:
    """Give every thread of a process, and its session, the priority ``nice``, if it exists and this is allowed."""
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 (hot: no Path objects)
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, int(task), nice)
    _, now = autogroup(pid)
    if now is not None and now != nice:
        _write_autogroup(pid, nice)


def autogroup(pid: int) -> tuple[str, int | None]:
    """Return the name of the autogroup of a process's session and its nice value; None if there is no group."""
    name_and_nice = _AUTOGROUP.match((read(f"/proc/{pid}/autogroup") or b"").decode("ascii"))
    return (name_and_nice[1], int(name_and_nice[2])) if name_and_nice else ("", None)


def before_races(nice: int) -> int:
    """Return a session's usual nice value: ``nice``, or 0 for ``NICE``: another race set it, and may end first."""
    return 0 if nice == NICE else nice


def restore_autogroup(group: str, nice: int) -> None:
    """Restore the usual priority of a session's autogroup through one of its remaining processes."""
    for pid in pids():
        if autogroup(pid)[0] == group:
            _write_autogroup(pid, nice)
            return


@contextlib.contextmanager
def raised(group: Path | None = None) -> Iterator[None]:
    """Raise the priority of this process, with the load engine's threads, and restore it at the end.

    ``group`` is its control group of version 2: its weight is raised, too, if it is writable.
    """
    usual, (_, of_session) = os.getpriority(os.PRIO_PROCESS, 0), autogroup(os.getpid())
    if usual == NICE:
        # by the user, or for the other side of a check, which restores it
        yield
        return
    weight = _exchanged(group, "10000")
    raise_process(os.getpid())
    try:
        yield
    finally:
        raise_process(os.getpid(), usual)
        if of_session is not None:
            _write_autogroup(os.getpid(), before_races(of_session))
        if weight:
            _exchanged(group, weight)


def _exchanged(group: Path | None, weight: str) -> str:
    """Set a control group's weight and return the old one; empty if it is not writable."""
    if group is None:
        return ""
    with contextlib.suppress(OSError):
        file = group / "cpu.weight"
        usual = file.read_text(encoding="ascii").strip()
        file.write_text(weight, encoding="ascii")
        return usual
    return ""


def _write_autogroup(pid: int, nice: int) -> None:
    """Write the nice value, with retries: without CAP_SYS_ADMIN Linux accepts one write per 0.1 s in all."""
    for _ in range(_TRIES):
        try:
            with open(f"/proc/{pid}/autogroup", "w", encoding="ascii") as file:  # noqa: PTH123
                file.write(str(nice))
        except BlockingIOError:
            time.sleep(_AGAIN_S)
        except OSError:
            return
        else:
            return
