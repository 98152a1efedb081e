"""Run a command where the kernel forbids namespaces and mounts, as in most containers.

``python tests/no_namespaces.py [--no-landlock] COMMAND…``: a filter of system calls, which all descendants inherit,
answers as Docker's own default filter does to who has no capabilities; without Landlock, as an old kernel, too.
Source: seccomp(2), linux/bpf_common.h, linux/seccomp.h; moby/profiles, seccomp/default.json.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
CLONE, *_FORBIDDEN = {
    "x86_64": (56, 165, 166, 155, 272, 308, 246, 248, 249, 250, 298, 321, 323),
    "aarch64": (220, 40, 39, 41, 97, 268, 104, 217, 218, 219, 241, 280, 282),
}[platform.machine()]
"""clone; then mount, umount2, pivot_root, unshare, setns, kexec_load, add_key, request_key, keyctl,
perf_event_open, bpf, userfaultfd."""
FORBIDDEN = (*_FORBIDDEN, 425, 426, 427, 428, 429, 430, 431, 432, 433, 442)
"""Also io_uring's, and what mounts file systems by descriptors."""
CLONE3, LANDLOCK = 435, (444, 445, 446)
NEW_NAMESPACES = 0x7E020000
"""The flags of clone that make some."""
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
FIRST_ARGUMENT = 16


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def forbid(*, landlock: bool = True) -> None:
    """Forbid them to this process and all that it starts; raises OSError where that is impossible."""
    refused = dict.fromkeys(FORBIDDEN, errno.EPERM)
    # libraries then use clone, whose flags a filter can see
    refused |= dict.fromkeys((CLONE3, *(() if landlock else LANDLOCK)), errno.ENOSYS)
    lines = [(LOAD, 0, 0, 0)]
    for number, error in refused.items():
        lines += [(EQUAL, 0, 1, number), (RETURN, 0, 0, REFUSE | error)]
    lines += [(EQUAL, 0, 3, CLONE), (LOAD, 0, 0, FIRST_ARGUMENT), (ANY_BIT, 0, 1, NEW_NAMESPACES)]
    lines += [(RETURN, 0, 0, REFUSE | errno.EPERM), (RETURN, 0, 0, ALLOW)]
    text = b"".join(struct.pack("HBBI", *line) for line in lines)
    program, libc = _Program(len(lines), text), ctypes.CDLL(None, use_errno=True)
    for call in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program))):
        if libc.prctl(*call):
            raise OSError(ctypes.get_errno(), "seccomp")


if __name__ == "__main__":
    command = sys.argv[1:]
    has_landlock = command[0] != "--no-landlock"
    forbid(landlock=has_landlock)
    command = command if has_landlock else command[1:]
    os.execvp(command[0], command)
