"""How people start Hypercorn: its options."""

from __future__ import annotations

from ...native_options import CommandLine
from .files import toml_options

__all__ = ["COMMAND"]

COMMAND = CommandLine(
    programs=("hypercorn",),
    unsaid={"workers": 1, "keep_alive": 5},
    short={
        "b": "bind",
        "c": "config",
        "D": "daemon",
        "g": "group",
        "k": "worker-class",
        "m": "umask",
        "p": "pid",
        "u": "user",
        "w": "workers",
    },
    switches="daemon debug reload help",
    values={"loop": {"asyncio": "asyncio", "uvloop": "uvloop"}},
    reads={"config": toml_options},
    unlike=frozenset({"reload", "debug"}),
)
