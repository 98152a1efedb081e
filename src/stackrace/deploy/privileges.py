"""Under whose rights servers run: nothing needs root; as root, servers get none of its powers."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
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
    # what it decides holds for the whole race, and a busy machine's kernel may take seconds for a namespace
    if shutil.which("unshare") and ask([*inside, "true"], limit_s=60).code == 0:
        return inside
    ranges = (map(int, line.split()) for line in Path("/proc/self/uid_map").read_text().splitlines())
    if not any(first <= user < first + length for first, _, length in ranges):
        # root is the only user of this container, and has no powers beyond it either
        return ()
    return ("setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups", "--")


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
