"""How people start mod_wsgi without a configuration of Apache's: ``mod_wsgi-express start-server``."""

from __future__ import annotations

from collections.abc import Mapping

from ...native_options import CommandLine, Concern

__all__ = ["COMMAND"]


def _at_once(settings: Mapping[str, str | int | bool]) -> int:
    """Return how many requests it works on at once: one in each thread."""
    return int(settings.get("processes", 1)) * int(settings.get("threads", 5))


COMMAND = CommandLine(
    programs=("mod_wsgi-express",),
    verbs={"start-server": ""},
    unsaid={"processes": 1, "threads": 5},
    switches=("reload-on-changes embedded-mode log-to-terminal access-log debug-mode enable-debugger help"),
    path="apache+mod_wsgi",
    at_once=_at_once,
    is_inside=True,
    settings={"mode": "mode", "processes": "processes", "threads": "threads", "maximum-requests": "max_requests"},
    decided={
        option: concern
        for concern, options in {
            Concern.ADDRESS: "host port",
            Concern.USER: "user group",
            Concern.LOGS: "access-log log-to-terminal startup-log",
            Concern.PATHS: "server-root url-alias working-directory",
        }.items()
        for option in options.split()
    },
    unlike=frozenset({"reload-on-changes", "debug-mode", "enable-debugger"}),
)
