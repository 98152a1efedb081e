"""User rights of servers: nothing needs root, and in a race by root, servers get none of root's powers."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from functools import cache
from pathlib import Path

from ..base.process import ask
from ..base.unix import pwd

_USER = "www-data"


@cache
def unprivileged() -> tuple[str, ...]:
    """Return the command prefix that takes root's powers from a server; empty if there are none to take.

    As root, servers run in a user namespace of their own as www-data, without any capability over the machine,
    but they still read what root may read: projects, environments and interpreters below /root keep
    working. If the kernel or a container forbids namespaces, they run as the real www-data, and the app's
    files must be readable for it. Source: user_namespaces(7), unshare(1), setpriv(1).
    """
    if sys.platform != "linux" or os.geteuid() != 0:
        return ()
    user, group = _ids()
    inside = ("unshare", "--user", f"--map-user={user}", f"--map-group={group}", "--")
    # the result is kept for the whole race, and a busy machine's kernel may take seconds for a namespace
    if shutil.which("unshare") and ask([*inside, "true"], limit_s=60).code == 0:
        return inside
    ranges = (map(int, line.split()) for line in Path("/proc/self/uid_map").read_text().splitlines())
    if not any(first <= user < first + length for first, _, length in ranges):
        # root is the only user of this container, and has no powers beyond it either
        return ()
    return ("setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups", "--")


def hand_over(folder: Path) -> None:
    """Give ``folder`` to the user that servers run as, if that is not our own user."""
    if serves_as_another():
        os.chown(folder, *_ids())


def let_in(folder: Path) -> None:
    """Give the user that servers run as, and nobody else, access to the private ``folder``."""
    if serves_as_another():
        os.chown(folder, -1, _ids()[1])
        folder.chmod(0o750)


def private_folder(folder: Path, *, served: bool = False) -> None:
    """Create ``folder`` of the cache or of the results for its owner alone; close it if it is open to others.

    The parents up to Stackrace's folder are closed, too. The user that servers run as can pass through the parents,
    and can enter ``folder`` if ``served`` is true. Raises OSError if the folder cannot be created.
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
    """Tell whether servers run as another user than this process."""
    return unprivileged()[:1] == ("setpriv",)


def has_name() -> bool:
    """Tell whether the user that servers run as has a name: ``docker run --user 1234`` gives it none."""
    if unprivileged():
        return True
    try:
        pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return True


def users() -> set[int]:
    """Return the ids of the users that the app's processes run as: this process's user, and the servers' user."""
    return {os.geteuid(), *(_ids()[:1] if serves_as_another() else ())}


def _ids() -> tuple[int, int]:
    try:
        entry = pwd.getpwnam(_USER)
    except KeyError:
        entry = pwd.getpwnam("nobody")
    return entry.pw_uid, entry.pw_gid
