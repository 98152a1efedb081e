"""How people start Uvicorn: its options and its variables."""

from __future__ import annotations

from ...native_options import CommandLine

__all__ = ["COMMAND"]

COMMAND = CommandLine(
    # fastapi run is Uvicorn with another command line
    programs=("uvicorn", "fastapi"),
    verbs={"run": "", "dev": "--reload"},
    unsaid={"workers": 1, "keep_alive": 5},
    switches=(
        "reload access-log no-access-log proxy-headers no-proxy-headers server-header no-server-header date-header "
        "no-date-header use-colors no-use-colors factory reset-contextvars no-reset-contextvars version "
        "help"
    ),
    prefix="UVICORN_",
    workers="workers",
    unlike=frozenset({"reload"}),
)
