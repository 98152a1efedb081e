"""Modules and constants of Unix that Windows, and partly macOS, lack.

Verbs that only read results import code that also races. There it must be imported, but never runs.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING


class _Absent:
    """Module that this system lacks."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> object:
        raise OSError(f"this system has no {self._name}.{name}; stacks are raced on Linux")


def _module(name: str) -> object:
    try:
        return import_module(name)
    except ImportError:
        return _Absent(name)


if TYPE_CHECKING:
    import fcntl as fcntl
    import pwd as pwd
    import resource as resource
else:
    fcntl, pwd, resource = map(_module, ("fcntl", "pwd", "resource"))


def open_flags(*names: str) -> int:
    """Return the flags of open(2) with ``names``, without those that this system lacks."""
    flags = 0
    for name in names:
        flags |= getattr(os, name, 0)
    return flags


def system_limit(name: str) -> int:
    """Return what sysconf(3) says of ``name``; 1 on a system without it."""
    return os.sysconf(name) if hasattr(os, "sysconf") else 1
