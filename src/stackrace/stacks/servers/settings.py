"""Settings that servers share, so that they have the same name and meaning everywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from ..stack import Origin, ProcessCount, Setting, SettingValue, Socket
from ..tunable import Tunable
from .contract import KEEP_ALIVE_S

__all__ = [
    "ACCESS_LOG",
    "ANY_SOCKET",
    "KEEP_ALIVE",
    "RECYCLING",
    "STATIC",
    "UPSTREAM_KEEP_ALIVE",
    "access_log",
    "fixed_by",
    "processes",
    "threads",
    "workers",
]


def fixed_by(setting: str) -> Callable[[Mapping[str, SettingValue]], ProcessCount | None]:
    """Return what counts the processes of a server that runs as many as ``setting`` says; 0 says nothing."""
    return partial(_count, setting)


def _count(setting: str, settings: Mapping[str, SettingValue]) -> ProcessCount | None:
    # it is not there where a configuration file of the user's computes it
    number = int(settings.get(setting, 0))
    return ProcessCount(setting=setting, least=number, most=number) if number else None


MOST_REQUESTS = 1_000_000_000
MOST_SECONDS = 86_400

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
    tunable=Tunable(values=(True, False)),
    help="Keep connections to the next hop, over http only: the other protocols' servers give each one a worker. "
    "Turn it off to see what opening one per request costs.",
)


KEEP_ALIVE = Setting(
    name="keep_alive",
    default=KEEP_ALIVE_S,
    maximum=MOST_SECONDS,
    origin=Origin.TUNED,
    help="Seconds an idle connection is kept, the same for all servers unless set; "
    "lower it to see what new connections cost.",
)

RECYCLING = (
    Setting(
        name="max_requests",
        default=0,
        minimum=0,
        maximum=MOST_REQUESTS,
        help="Requests after which a worker is replaced, against memory leaks; 0 is never.",
    ),
    Setting(
        name="max_requests_jitter",
        default=0,
        minimum=0,
        maximum=MOST_REQUESTS,
        help="Random part added to max_requests, so that workers are not all replaced at once.",
    ),
)

STATIC = Setting(
    name="static",
    default=False,
    help="Serve the folders of [app] static itself, where no front end stands before it; otherwise the app does.",
)


def workers(what: str) -> Setting:
    """Return the setting ``workers``, two as everywhere; ``what`` opens its help: what one of them is."""
    return Setting(
        name="workers",
        default=2,
        maximum=256,
        origin=Origin.TUNED,
        tunable=Tunable(per_core=4, most=256),
        help=f"{what}; raise it to the number of cores.",
    )


def processes(what: str) -> Setting:
    """Return the setting ``processes``, two as everywhere; ``what`` opens its help: what one of them is."""
    return Setting(
        name="processes",
        default=2,
        maximum=256,
        origin=Origin.TUNED,
        tunable=Tunable(per_core=8, most=256),
        help=f"{what}; raise it until the cores are busy or memory is short.",
    )


def threads(what: str, default: int, *, most: int = 32, steps: int = 6) -> Setting:
    """Return the setting ``threads``, of which a tuner tries up to ``most``; ``what`` opens its help."""
    return Setting(
        name="threads",
        default=default,
        maximum=1024,
        tunable=Tunable(most=most, steps=steps, multiplies=True),
        help=f"{what}; raise it when requests wait for a database.",
    )
