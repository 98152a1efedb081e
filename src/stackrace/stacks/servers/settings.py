"""Settings and options that servers share, and the command lines that follow from a table of options."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ..native_files import Concern
from ..native_options import NativeOptions, Option
from ..setting import Formula, Origin, Setting, Settings, Socket, Tunable
from ..stack import ProcessCount
from .contract import KEEP_ALIVE_S
from .site import Site


def fixed_by(setting: str) -> Callable[[Settings], ProcessCount | None]:
    """Return a function that gives a server's number of processes, the value of its ``setting``; None if that is
    0."""
    return partial(_count, setting)


def _count(setting: str, settings: Settings) -> ProcessCount | None:
    # the setting is missing if the user's configuration file computes it
    number = int(settings.get(setting, 0))
    return ProcessCount(setting=setting, least=number, most=number) if number else None


def in_threads(settings: Settings) -> int:
    """Return how many requests are in progress at most: one in each thread of each process."""
    return int(settings.get("processes", 1)) * int(settings["threads"])


_MOST_REQUESTS = 1_000_000_000
MOST_SECONDS = 86_400

ANY_SOCKET = (Socket.UNIX, Socket.TCP)
"""Kinds of socket by which nearly every front end can reach the next hop."""


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
        maximum=_MOST_REQUESTS,
        help="Requests after which a worker is replaced, against memory leaks; 0 is never.",
    ),
    Setting(
        name="max_requests_jitter",
        default=0,
        minimum=0,
        maximum=_MOST_REQUESTS,
        help="Random part added to max_requests, so that workers are not all replaced at once.",
    ),
)

STATIC = Setting(
    name="static",
    default=False,
    help="Serve the folders of [app] static itself, where no front end stands before it; otherwise the app does.",
)


def workers(
    what: str, advice: str = "raise it to the number of cores", *, per_core: int = 4, formula: Formula | None = None
) -> Setting:
    """Return the setting ``workers`` with the default 2; ``what`` and ``advice`` are its help."""
    return Setting(
        name="workers",
        default=2,
        maximum=256,
        origin=Origin.TUNED,
        tunable=Tunable(per_core=per_core, most=256, formula=formula),
        help=f"{what}; {advice}.",
    )


def processes(what: str) -> Setting:
    """Return the setting ``processes`` with the default 2; ``what`` opens its help and explains a process."""
    return Setting(
        name="processes",
        default=2,
        maximum=256,
        origin=Origin.TUNED,
        tunable=Tunable(per_core=8, most=256),
        help=f"{what}; raise it until the cores are busy or memory is short.",
    )


def threads(what: str, default: int, *, most: int = 32, steps: int = 6) -> Setting:
    """Return the setting ``threads``, tuned up to ``most``; ``what`` opens its help."""
    return Setting(
        name="threads",
        default=default,
        maximum=1024,
        tunable=Tunable(most=most, steps=steps, multiplies=True),
        help=f"{what}; raise it when requests wait for a database.",
    )


ADDRESS = (
    Option("uds", concern=Concern.ADDRESS, written=lambda site: site.listen.path if site.listen.is_unix else None),
    Option("host", concern=Concern.ADDRESS, written=lambda site: None if site.listen.is_unix else site.listen.host),
    Option("port", concern=Concern.ADDRESS, written=lambda site: None if site.listen.is_unix else site.listen.port),
)
"""Options of most servers for the listening address."""


def address(site: Site) -> str:
    """Return the listening address as ``unix:PATH`` or ``host:port``."""
    return f"unix:{site.listen.path}" if site.listen.is_unix else site.listen.address


def _unless_off(name: str) -> Callable[[Site], object]:
    return lambda site: site.settings[name] or None


def recycling(prefix: str = "") -> tuple[Option, ...]:
    """Return the options that replace workers after a number of requests; 0 is not written."""
    return tuple(
        Option(prefix + setting.name.replace("_", "-"), setting=setting, written=_unless_off(setting.name))
        for setting in RECYCLING
    )


def command_words(native: NativeOptions, site: Site) -> tuple[str, ...]:
    """Return the server's command-line words on ``site``: those of its rows, then the options of the path."""
    return (*(word for row in native.rows for word in row_words(row, value_of(row, site))), *given(site))


def given(site: Site) -> tuple[str, ...]:
    """Return the options that a stack path gives in the server's own language, as command-line words."""
    return tuple(
        f"--{option.name}" if option.value is None else f"--{option.name}={option.value}" for option in site.options
    )


def value_of(row: Option, site: Site) -> object:
    """Return a row's value on ``site``; None for nothing, a tuple for words to write unchanged."""
    if row.written is None:
        return site.settings[row.setting.name] if row.setting is not None else None
    return row.written(site) if callable(row.written) else row.written


def row_words(row: Option, value: object) -> Iterator[str]:
    """Yield the words for a value; a switch that is off becomes ``--no-…`` if the server knows that."""
    if isinstance(value, tuple):
        yield from map(str, value)
    elif isinstance(value, bool):
        off = next((name for name in row.long[1:] if name.startswith("no-")), "")
        if value or off:
            yield f"--{row.long[0] if value else off}"
    elif value is not None:
        yield from (f"--{row.long[0]}", str(value))
