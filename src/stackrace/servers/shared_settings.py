"""Settings that servers share, so that they have the same name and meaning everywhere."""

from __future__ import annotations

from ..model.stack import Origin, Setting, Socket

__all__ = ["ACCESS_LOG", "ANY_SOCKET", "UPSTREAM_KEEP_ALIVE", "access_log", "workers"]

ANY_SOCKET = (Socket.UNIX, Socket.TCP)
"""What nearly every front end can reach the next hop by."""


def access_log(place: str) -> Setting:
    """Return the setting ``access_log`` of a server that writes its log to ``place``."""
    return Setting(
        name="access_log",
        default=False,
        help=f"Write a line per request to {place}; turn it on to measure what logging costs.",
    )


ACCESS_LOG = access_log("logs/access.log")

UPSTREAM_KEEP_ALIVE = Setting(
    name="upstream_keep_alive",
    default=True,
    origin=Origin.RECOMMENDED,
    help="Keep connections to the next hop, over http only: the other protocols' servers give each one a worker. "
    "Turn it off to see what opening one per request costs.",
)


def workers(what: str) -> Setting:
    """Return the setting ``workers``, two as everywhere; ``what`` opens its help: what one of them is."""
    return Setting(
        name="workers",
        default=2,
        maximum=256,
        origin=Origin.TUNED,
        help=f"{what}; raise it to the number of cores.",
    )
