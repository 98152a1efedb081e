"""Under whose rights servers run, and at which priority. The supervisor uses it: standard library only.

Nothing needs root; as root, servers get none of its powers. Engine, stacks and services of a race have a priority
that other programs cannot share, all alike. A nice value weighs a thread against those of its own scheduling group.
Linux makes such a group of every session (autogroup), where control groups make none, and weighs the groups against
each other; so both are raised. It is never real-time scheduling: what else runs still gets some time.

Source: sched(7), "The nice value and group scheduling" and "The autogroup feature"; cgroup-v2.rst, "cpu.weight".
"""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import shutil
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ..base.process import ask

_USER = "www-data"


@cache
def unprivileged() -> tuple[str, ...]:
    """Return the command prefix that takes root's powers from a server; empty when there are none to take.

    As root, servers run in a user namespace of their own, where they are www-data and hold no capability over
    the machine, but still read what root may read: projects, environments and interpreters below /root keep
    working. Where the kernel or a container forbids namespaces, they run as www-data proper, and the app's
    files must be readable for it. Source: user_namespaces(7), unshare(1), setpriv(1).
    """
    if os.geteuid() != 0:
        return ()
    user, group = _ids()
    inside = ("unshare", "--user", f"--map-user={user}", f"--map-group={group}", "--")
    if shutil.which("unshare") and ask([*inside, "true"]).code == 0:
        return inside
    if not _is_known(user):
        # a container whose root is the only user has no powers beyond it either
        return ()
    return ("setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups", "--")


def _is_known(user: int) -> bool:
    """Tell whether our user namespace has the number ``user``. Source: user_namespaces(7), uid_map."""
    ranges = (map(int, line.split()) for line in Path("/proc/self/uid_map").read_text().splitlines())
    return any(first <= user < first + length for first, _, length in ranges)


def hand_over(folder: Path) -> None:
    """Give ``folder`` to the user that servers run as, where that is somebody else than we are."""
    if serves_as_another():
        os.chown(folder, *_ids())


def let_in(folder: Path) -> None:
    """Let the user that servers run as into the private ``folder``, and nobody else."""
    if serves_as_another():
        os.chown(folder, -1, _ids()[1])
        folder.chmod(0o750)


def private_folder(folder: Path, *, served: bool = False) -> None:
    """Make ``folder`` of the cache or of the results for its owner alone; one that is open to others is closed.

    So are the folders that it lies in, up to Stackrace's. The user that servers run as gets through those, and into
    one that is ``served``. Raises OSError where it cannot be made.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    names = [each.name for each in (folder, *folder.parents)]
    above = folder.parents[: names.index("stackrace")] if "stackrace" in names else ()
    for each in (folder, *above):
        with contextlib.suppress(PermissionError):
            if serves_as_another() and (served or each != folder):
                let_in(each)
            elif each.stat().st_mode & 0o077:
                each.chmod(0o700)


def serves_as_another() -> bool:
    """Tell whether servers run as a user who is not this process's own."""
    return unprivileged()[:1] == ("setpriv",)


def users() -> set[int]:
    """Return whom the app's processes run as: this process's user, and the one that servers run as."""
    return {os.geteuid(), *(_ids()[:1] if serves_as_another() else ())}


def _ids() -> tuple[int, int]:
    try:
        entry = pwd.getpwnam(_USER)
    except KeyError:
        entry = pwd.getpwnam("nobody")
    return entry.pw_uid, entry.pw_gid


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
    try:
        told = _AUTOGROUP.match(Path(f"/proc/{pid}/autogroup").read_text(encoding="ascii"))
    except OSError:
        return "", None
    return (told[1], int(told[2])) if told else ("", None)


def before_races(nice: int) -> int:
    """Return what a session had, of which another race in it may have made ``NICE``: it may end before we do."""
    return 0 if nice == NICE else nice


def restore_autogroup(group: str, nice: int) -> None:
    """Give a session's group its usual priority again, by whichever of its processes is still there."""
    for pid in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 (as above)
        if autogroup(int(pid))[0] == group:
            _write_autogroup(int(pid), nice)
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
