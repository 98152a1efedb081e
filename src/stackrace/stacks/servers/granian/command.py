"""How people start Granian: its options and its variables."""

from __future__ import annotations

from ...native_options import CommandLine

__all__ = ["COMMAND"]

COMMAND = CommandLine(
    programs=("granian",),
    unsaid={"workers": 1},
    switches=(
        "http1-keep-alive no-http1-keep-alive http1-pipeline-flush no-http1-pipeline-flush access-log "
        "no-access-log log no-log ws no-ws reload no-reload factory no-factory respawn-failed-workers "
        "no-respawn-failed-workers metrics no-metrics version help"
    ),
    values={"interface": {"asgi": "asgi", "asginl": "asgi", "wsgi": "wsgi"}},
    prefix="GRANIAN_",
    unlike=frozenset({"reload"}),
)
