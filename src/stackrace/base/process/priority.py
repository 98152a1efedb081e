"""At which priority things run. The supervisor uses it: standard library only.

Engine, stacks and services of a race have a priority that other programs cannot share, all alike, and so has what
is started for it. A nice value weighs a thread against those of its own scheduling group. Linux makes such a group
of every session (autogroup), where control groups make none, and weighs the groups against each other; so both are
raised. It is never real-time scheduling: what else runs still gets some time.

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
"""The highest priority that a normal thread can have: 87 times the weight of the usual one."""

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
    """Give every thread of a process, and its session, this priority; no error when it is gone or forbidden."""
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 (hot: no Path objects)
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, int(task), nice)
    _, now = autogroup(pid)
    if now is not None and now != nice:
        _write_autogroup(pid, nice)


def autogroup(pid: int) -> tuple[str, int | None]:
    """Return the name of the group of a process's session and its nice value; None where there is no group."""
    told = _AUTOGROUP.match((read(f"/proc/{pid}/autogroup") or b"").decode("ascii"))
    return (told[1], int(told[2])) if told else ("", None)


def before_races(nice: int) -> int:
    """Return what a session had, of which another race in it may have made ``NICE``: it may end before we do."""
    return 0 if nice == NICE else nice


def restore_autogroup(group: str, nice: int) -> None:
    """Give a session's group its usual priority again, by whichever of its processes is still there."""
    for pid in pids():
        if autogroup(pid)[0] == group:
            _write_autogroup(pid, nice)
            return


@contextlib.contextmanager
def raised(group: Path | None = None) -> Iterator[None]:
    """Raise this process, with the load engine's threads, and leave it as it was.

    ``group`` is the control group of version 2 that it is in: where its weight may be written, that is raised, too.
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
    """Set a control group's weight and return what it was; empty where it may not be written."""
    if group is None:
        return ""
    with contextlib.suppress(OSError):
        file = group / "cpu.weight"
        usual = file.read_text(encoding="ascii").strip()
        file.write_text(weight, encoding="ascii")
        return usual
    return ""


def _write_autogroup(pid: int, nice: int) -> None:
    """Write it; without CAP_SYS_ADMIN Linux takes one in a tenth of a second, of all together, and has us wait."""
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
