"""How people start Daphne: its options."""

from __future__ import annotations

from ...native_options import CommandLine

__all__ = ["COMMAND"]

COMMAND = CommandLine(
    programs=("daphne",),
    unsaid={},
    short={
        "p": "port",
        "b": "bind",
        "u": "unix-socket",
        "e": "endpoint",
        "v": "verbosity",
        "t": "http-timeout",
        "s": "server-name",
    },
    switches="proxy-headers no-server-name help",
)
