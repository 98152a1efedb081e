"""Stackrace: race a Python web application across every way of deploying it.

The command line's work, for programs; docs/python-api.md has an example.
"""

# nothing is imported here: Ctrl-C in the first milliseconds is the command line's to meet
TYPE_CHECKING = False
if TYPE_CHECKING:
    __version__: str
    from .api.racing import run
    from .base.errors import StackraceError
    from .race.request.race_file import read_request as read_race_file
    from .race.request.request import RaceRequest as Request
    from .race.request.request import WorkloadRequest
    from .report.exporter import Format, render
    from .report.merged_standing import standing_of as standing

__all__ = [
    "Format",
    "Request",
    "StackraceError",
    "WorkloadRequest",
    "__version__",
    "read_race_file",
    "render",
    "run",
    "standing",
]

_HOMES = {
    "Format": ("report.exporter", "Format"),
    "Request": ("race.request.request", "RaceRequest"),
    "StackraceError": ("base.errors", "StackraceError"),
    "WorkloadRequest": ("race.request.request", "WorkloadRequest"),
    "read_race_file": ("race.request.race_file", "read_request"),
    "render": ("report.exporter", "render"),
    "run": ("api.racing", "run"),
    "standing": ("report.merged_standing", "standing_of"),
}
"""Name → its module and its name there, imported when it is first used: ``stackrace --help`` pays for none."""


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("stackrace")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, original = _HOMES[name]
    return getattr(import_module(f".{module}", __name__), original)


def __dir__() -> list[str]:
    return __all__
