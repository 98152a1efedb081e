"""A private view of the file system, for a process and all that it starts. Standard library only.

In a mount namespace of its own, a folder is covered by an overlay: writes go to another folder, and the
folder itself stays unchanged. Source: mount_namespaces(7), user_namespaces(7), setns(2), kernel documentation,
filesystems/overlayfs.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import shutil
import stat
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

_CLONE_NEWNS = 0x00020000
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWUTS = 0x04000000
_CLONE_NEWIPC = 0x08000000
_CLONE_NEWPID = 0x20000000
_CLONE_NEWNET = 0x40000000
_MS_RDONLY = 1
_MS_NOSUID = 2
_MS_NODEV = 4
_MS_NOEXEC = 8
_MS_BIND = 0x1000
_MS_REC = 0x4000
_MS_PRIVATE = 0x40000
_MNT_DETACH = 2
_MOUNT_ATTR_RDONLY = 1
_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_SYS_MOUNT_SETATTR = 442
"""Number of the system call, the same on every architecture."""
_PR_SET_DUMPABLE = 4
_ACCEPTS = 0x10000
"""__SO_ACCEPTCON, the flag of a socket that listens."""

# on Windows nothing is asked of it
LIBC = ctypes.CDLL(None if os.name == "posix" else "msvcrt", use_errno=True)

_MOST_COPIED_BYTES = 1 << 30
"""Largest mounted file that is copied."""

MEMORY = Path("/dev/shm")
"""Folder of POSIX shared memory and semaphores. Source: shm_overview(7)."""


def separate() -> None:
    """Move this process to its own mount namespace, inside a user namespace if it lacks the right.

    Raises OSError if the kernel or a container forbids it.
    """
    owner = os.geteuid(), os.getegid()
    try:
        # with root's powers files keep all their owners; our user namespace knows only one
        done(LIBC.unshare(_CLONE_NEWNS))
    except PermissionError:
        _unshare(_CLONE_NEWNS, owner)
    _keep_mounts()
    with contextlib.suppress(OSError):
        # System V memory, semaphores and queues that programs leave are removed with the namespace
        done(LIBC.unshare(_CLONE_NEWIPC))
        done(LIBC.mount(b"mqueue", b"/dev/mqueue", b"mqueue", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, None))
    # without this, no other process could read /proc/PID/root
    LIBC.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)


def isolate(user: int, group: int) -> None:
    """Move this process, as ``user``, to its own namespaces of users, files and network; its fork is process 1.

    The process can change only files that it mounts, and has no rights outside, not even as root. Raises OSError if
    the kernel or a container forbids namespaces.
    """
    _seclude(_CLONE_NEWPID | _CLONE_NEWUTS, (user, group))


def _unshare(kinds: int, identities: tuple[int, int]) -> None:
    """Move to new namespaces below a user namespace, in which we have ``identities``."""
    owner = os.geteuid(), os.getegid()
    done(LIBC.unshare(_CLONE_NEWUSER | kinds))
    Path("/proc/self/setgroups").write_text("deny")
    for name, inside, outside in zip(("uid_map", "gid_map"), identities, owner, strict=True):
        Path("/proc/self", name).write_text(f"{inside} {outside} 1")


def mount_memory(target: Path, options: bytes) -> None:
    """Mount an empty file system in memory, without devices and set-user-id rights."""
    done(LIBC.mount(b"none", os.fsencode(target), b"tmpfs", _MS_NOSUID | _MS_NODEV, options))


def mount_processes(target: Path) -> None:
    """Mount a read-only procfs of this namespace's processes."""
    done(LIBC.mount(b"none", os.fsencode(target), b"proc", _MS_RDONLY | _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, None))


def pivot(root: Path) -> None:
    """Make ``root``, which must be a mount point, the root of this process, and the old root unreachable."""
    os.chdir(root)
    done(LIBC.syscall({"x86_64": 155, "aarch64": 41}.get(os.uname().machine, 155), b".", b"."))
    done(LIBC.umount2(b".", _MNT_DETACH))
    os.chdir("/")


def seal(folder: Path, start: Path) -> None:
    """Forbid this process, and all that it starts, the network and all writes, except to a copy of ``folder``.

    The process changes to the folder ``start``. Its files in /dev/shm are removed when it ends. Raises OSError if
    namespaces are forbidden.
    """
    _seclude(0, (os.geteuid(), os.getegid()))
    lower = os.open(folder, os.O_PATH)
    mount_memory(MEMORY, b"mode=1777,size=256m")
    mount_overlay(folder, lower, MEMORY / "layer")
    os.close(lower)
    os.chdir(start)


def _keep_mounts() -> None:
    """Hide future mounts from processes outside."""
    done(LIBC.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None))


def _seclude(kinds: int, identities: tuple[int, int]) -> None:
    """Move to new namespaces, including those of ``kinds``, in which all files are read-only."""
    _unshare(_CLONE_NEWNS | _CLONE_NEWNET | _CLONE_NEWIPC | kinds, identities)
    _keep_mounts()
    _make_read_only(Path("/"))


def _make_read_only(mount: Path) -> None:
    """Make a mount and all below it read-only in this namespace."""
    attributes = struct.pack("=QQQQ", _MOUNT_ATTR_RDONLY, 0, 0, 0)
    done(
        LIBC.syscall(_SYS_MOUNT_SETATTR, _AT_FDCWD, os.fsencode(mount), _AT_RECURSIVE, attributes, len(attributes))
    )


def enter(pid: int) -> None:
    """Join the namespaces of the process ``pid``; the working directory is then the root folder.

    The caller must have no threads, as after a fork. Raises OSError if the process is gone.
    """
    theirs, ours = Path(f"/proc/{pid}/ns"), Path("/proc/self/ns")
    others = [kind for kind in ("user", "ipc", "mnt") if (theirs / kind).readlink() != (ours / kind).readlink()]
    for handle in [os.open(theirs / kind, os.O_RDONLY | os.O_CLOEXEC) for kind in others]:
        done(LIBC.setns(handle, 0))
        os.close(handle)


def cover(folders: Sequence[tuple[str, str]], writable: Sequence[str]) -> None:
    """Cover each folder in ``folders``, pairs of a folder and a layer: writes below the folder go to its layer.

    ``writable`` are not covered. What is mounted below a folder is covered as well: a file by a copy. What neither
    overlay nor copy covers is read-only. Listening sockets stay open, since no socket can be reached through an
    overlay. Raises OSError that names a folder that cannot be covered; that folder stays unchanged.
    """
    for name, layer in folders:
        folder = Path(name)
        inside = [path for path in (*map(Path, writable), *_sockets()) if path.is_relative_to(folder)]
        mounts = [each for each in _mounts_below(folder) if not any(map(each.is_relative_to, inside))]
        lower = os.open(folder, os.O_PATH)
        # a path may be gone, or hidden from this process; then the cover hides it from everybody
        shown, covered = list(_opened(inside)), list(_opened(mounts))
        if folder == MEMORY:
            # files for memory stay in memory, and are removed with this view
            Path(layer).mkdir(parents=True)
            mount_memory(Path(layer), b"mode=700")
        mount_overlay(folder, lower, Path(layer, "0"))
        try:
            for number, (target, handle) in enumerate(covered, start=1):
                _cover_mount(target, handle, Path(layer, str(number)))
            for path, handle in shown:
                # another program's socket may be removed at any moment
                with contextlib.suppress(FileNotFoundError):
                    bind(path, handle)
        except OSError:
            # an incomplete cover would hide the mounts below it
            done(LIBC.umount2(os.fsencode(folder), _MNT_DETACH))
            raise


def _opened(paths: Sequence[Path]) -> Iterator[tuple[Path, int]]:
    for path in paths:
        with contextlib.suppress(OSError):
            yield path, os.open(path, os.O_PATH)


def _cover_mount(target: Path, handle: int, layer: Path) -> None:
    """Show an overlay, a copy or a read-only view of the mount ``handle`` at ``target``."""
    try:
        status = os.fstat(handle)
        if stat.S_ISREG(status.st_mode) and status.st_size <= _MOST_COPIED_BYTES:
            layer.mkdir(parents=True)
            copy = layer / "file"
            shutil.copyfile(f"/proc/self/fd/{handle}", copy)
            _copy_status(copy, handle)
            bind(target, os.open(copy, os.O_PATH))
        else:
            mount_overlay(target, handle, layer)
    except OSError:
        try:
            bind(target, handle)
        except OSError:
            # its folder was removed, and the mount with it
            return
        _make_read_only(target)


def mount_overlay(folder: Path, lower: int, layer: Path, *, executes: bool = True) -> None:
    """Show the open folder ``lower`` at ``folder``; writes go to ``layer``."""
    upper, work = layer / "upper", layer / "work"
    work.mkdir(parents=True)
    upper.mkdir()
    _copy_status(upper, lower)
    handles = {"lowerdir": lower, "upperdir": os.open(upper, os.O_PATH), "workdir": os.open(work, os.O_PATH)}
    # by number, because a folder's name may contain the separators of options
    options = ",".join(f"{name}=/proc/self/fd/{handle}" for name, handle in handles.items())
    if Path("/proc/self/uid_map").read_text().split() != ["0", "0", "4294967295"]:
        # below the first user namespace, overlays do not keep their notes in root's attributes
        options += ",userxattr"
    try:
        flags = 0 if executes else _MS_NOSUID | _MS_NODEV | _MS_NOEXEC
        done(LIBC.mount(b"overlay", os.fsencode(folder), b"overlay", flags, options.encode()))
    except OSError as error:
        raise OSError(error.errno, f"no overlay over {folder}: {error.strerror}") from error
    # the kernel creates this folder without any rights, so that it could not be removed afterwards
    Path(f"/proc/self/fd/{handles['workdir']}/work").chmod(0o700)


def _copy_status(upper: Path, lower: int) -> None:
    """Give ``upper`` the owner and the mode of the folder ``lower``: the overlay shows them from ``upper``."""
    status = os.stat(f"/proc/self/fd/{lower}")  # noqa: PTH116
    give_to_owner(upper, status)
    upper.chmod(status.st_mode & 0o7777)


def give_to_owner(path: Path, of: os.stat_result) -> None:
    """Give ``path``, as root, to the owner of ``of``, unless our user namespace does not know that user."""
    if os.geteuid() == 0:
        with contextlib.suppress(OSError):
            os.chown(path, of.st_uid, of.st_gid)


def rebuild(folder: Path) -> None:
    """Mount an empty file system over ``folder`` and bind its entries into it: new folders can be created there.

    Raises OSError if that is forbidden.
    """
    handle = os.open(folder, os.O_PATH)
    inside = Path(f"/proc/self/fd/{handle}")
    children = sorted(inside.iterdir())
    done(LIBC.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, b"mode=755"))
    for child in children:
        # another program may remove an entry at any moment
        with contextlib.suppress(FileNotFoundError):
            _show(child, folder / child.name)
    os.close(handle)


def _show(entry: Path, target: Path) -> None:
    """Show a link, file or folder at ``target``, which does not exist yet."""
    if entry.is_symlink():
        target.symlink_to(entry.readlink())
        return
    own = os.open(entry, os.O_PATH)
    try:
        target.mkdir() if entry.is_dir() else target.touch()
        bind(target, own)
    finally:
        os.close(own)


def bind(path: Path, handle: int) -> None:
    """Show the file or folder of ``handle`` at ``path``, with all mounts below it."""
    done(LIBC.mount(f"/proc/self/fd/{handle}".encode(), os.fsencode(path), None, _MS_BIND | _MS_REC, None))


def _mounts_below(folder: Path) -> list[Path]:
    escaped = (line.split(b" ")[4] for line in Path("/proc/self/mountinfo").read_bytes().splitlines())
    names = (re.sub(rb"\\([0-7]{3})", lambda octal: bytes([int(octal[1], 8)]), name) for name in escaped)
    targets = {Path(os.fsdecode(name)) for name in names}
    return sorted(target for target in targets if target != folder and target.is_relative_to(folder))


def _sockets() -> list[Path]:
    """Return the listening unix sockets. Source: proc_net_unix(5)."""
    fields = (line.split(maxsplit=7) for line in Path("/proc/net/unix").read_bytes().splitlines()[1:])
    return [
        Path(os.fsdecode(words[7]))
        for words in fields
        if len(words) == 8 and words[7].startswith(b"/") and int(words[3], 16) & _ACCEPTS
    ]


def done(result: int) -> int:
    """Return the result of a libc function; raise its OSError if it is negative."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
