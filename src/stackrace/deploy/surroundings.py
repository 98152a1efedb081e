"""Surroundings of a project that a race must not change: the user's home and the folders for temporary files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from shlex import quote

from ..base.files import is_file, is_folder, matching, real_path
from ..base.process.namespaces import MEMORY
from ..base.process.processes import read
from ..base.process.view import Relocation
from ..base.temporary import temporary_folder
from ..base.text import few
from ..base.unix import pwd
from .privileges import users

_USER_FOLDERS = {
    "XDG_CACHE_HOME": ".cache",
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
}
"""Folders in a home by the variables that override them. Source: XDG Base Directory Specification."""
_TEMPORARY = ("/tmp", "/var/tmp")
_SMALL_BYTES = 1 << 16
"""Largest size of a file that is copied: settings and histories, many of which are appended to."""
_KINDS = {"shm": ("shmid", "-m"), "sem": ("semid", "-s"), "msg": ("msqid", "-q")}
"""Files of /proc/sysvipc: their column of numbers, and the option of ipcrm. Source: proc_sysvipc(5), ipcrm(1)."""
_MOST_REMOVALS = 500
_MEMORY = (MEMORY, Path("/dev/mqueue"))


def surroundings(*, memory: bool) -> Iterator[Path]:
    """Yield the existing folders, with links resolved; with ``memory``, also /dev/shm.

    The folder HOME and the home in the password file are both among them: programs use both.
    """
    homes = [str(_home())]
    # a container's user may have no name
    with suppress(KeyError):
        homes.append(pwd.getpwuid(os.geteuid()).pw_dir)
    named = [os.environ[name] for name in _USER_FOLDERS if os.environ.get(name)]
    for name in (*homes, *named, *_TEMPORARY, temporary_folder(), *([str(MEMORY)] if memory else ())):
        folder = real_path(Path(name))
        if folder != Path("/") and folder.is_absolute() and is_folder(folder):
            yield folder


def private_home(target_home: Path, relocation: Relocation) -> Mapping[str, str]:
    """Make ``target_home`` a home for the app's processes, and return the variables that lead there.

    It shows everything in the user's home, small files as copies, the rest as links; new files are private.
    New files are also private in its folders for caches, settings and data, and in folders that hold the project.
    """
    home = _home()
    holders = {folder for path in relocation.copied.values() for folder in path.parents if home in folder.parents}
    shown = [
        (folder, target_home / folder.relative_to(home)) for folder in (home, home / ".local", *sorted(holders))
    ]
    # several variables may name one folder
    shown += [
        (Path(os.environ.get(name) or home / each), target_home / each) for name, each in _USER_FOLDERS.items()
    ]
    for _, target in shown:
        target.mkdir(parents=True, exist_ok=True)
    for folder, target in shown:
        for entry in matching(folder, "*"):
            if not os.path.lexists(target / entry.name):
                _mirror(relocation.path(entry), target / entry.name)
    led = {name: str(target_home / _USER_FOLDERS[name]) for name in _USER_FOLDERS if os.environ.get(name)}
    # the user's own packages (pip install --user) stay in their folder
    packages = os.environ.get("PYTHONUSERBASE") or str(home / ".local")
    return {"HOME": str(target_home), "PYTHONUSERBASE": packages, **led}


def _home() -> Path:
    """Return the user's home, which may not exist, and may be in no password file."""
    return real_path(Path(os.path.expanduser("~")))  # noqa: PTH111 (Path's own raises)


def _mirror(path: Path, target: Path) -> None:
    """Show ``path`` at ``target``: a small file as a copy, anything else as a link."""
    if is_file(path) and not path.is_symlink() and path.lstat().st_size <= _SMALL_BYTES:
        with suppress(OSError):
            shutil.copy2(path, target)
            return
        # a full disk may have left a part of the copy
        target.unlink(missing_ok=True)
    target.symlink_to(path)


class SharedMemory:
    """Shared memory, semaphores and queues of System V and POSIX that are created from now on and left over."""

    def __init__(self) -> None:
        self._users = users()
        self._before = self._removals()

    def left(self) -> tuple[str, ...]:
        """Return a sentence about objects that remain of the users that apps run as; empty if there are none."""
        left = [each for each in self._removals() if each not in self._before]
        if not left:
            return ()
        return (
            "Shared memory, semaphores or queues were left since the race began, by the app or by another program "
            f"of this user; remove what is the app's: {few(left, _MOST_REMOVALS)}.",
        )

    def _removals(self) -> list[str]:
        """Return the commands that remove the objects that exist now, except objects of running processes."""
        found = []
        for kind, (number, option) in _KINDS.items():
            for values in _table(Path("/proc/sysvipc", kind)):
                is_used = "cpid" in values and Path("/proc", values["cpid"]).exists()
                if int(values["cuid"]) in self._users and not is_used:
                    found.append(f"ipcrm {option} {values[number]}")
        for path in (path for folder in _MEMORY for path in matching(folder, "*")):
            with suppress(OSError):
                if path.lstat().st_uid in self._users:
                    found.append(f"rm {quote(str(path))}")
        return found


def _table(file: Path) -> list[dict[str, str]]:
    """Return the rows of ``file`` by its column names; none if the kernel has no such memory."""
    lines = [line.split() for line in (read(str(file)) or b"").decode("ascii").splitlines()]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]
