"""Run a command where the kernel forbids namespaces and mounts, as in most containers.

``python tests/no_namespaces.py COMMAND…``: a filter of system calls, which all descendants inherit, answers EPERM.
Docker's own default filter does. Source: seccomp(2), linux/bpf_common.h, linux/seccomp.h.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
FORBIDDEN = {"x86_64": (165, 272, 308), "aarch64": (40, 97, 268)}[platform.machine()]
"""The numbers of mount, unshare and setns."""
ALLOW, REFUSE = 0x7FFF0000, 0x00050001
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def forbid() -> None:
    """Forbid them to this process and all that it starts; raises OSError where that is impossible."""
    lines = [(LOAD, 0, 0, 0)]
    lines += [(EQUAL, len(FORBIDDEN) - place, 0, number) for place, number in enumerate(FORBIDDEN)]
    lines += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSE)]
    text = b"".join(struct.pack("HBBI", *line) for line in lines)
    program, libc = _Program(len(lines), text), ctypes.CDLL(None, use_errno=True)
    for call in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program))):
        if libc.prctl(*call):
            raise OSError(ctypes.get_errno(), "seccomp")


if __name__ == "__main__":
    forbid()
    os.execvp(sys.argv[1], sys.argv[1:])
