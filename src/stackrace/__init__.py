"""Stackrace: race a Python web application across every way of deploying it.

The command line's work, for programs; docs/python-api.md has an example.
"""

# nothing is imported here: Ctrl-C in the first milliseconds is the command line's to meet
TYPE_CHECKING = False
if TYPE_CHECKING:
    from .api.racing import run
    from .model.errors import StackraceError
    from .report.exporter import Format, render
    from .report.result import standing_of as standing
    from .setup.race_file import read_request as read_race_file
    from .spec.request import RaceRequest as Request
    from .spec.request import WorkloadRequest

__version__ = "0.1.0"

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
    "Request": ("spec.request", "RaceRequest"),
    "StackraceError": ("model.errors", "StackraceError"),
    "WorkloadRequest": ("spec.request", "WorkloadRequest"),
    "read_race_file": ("setup.race_file", "read_request"),
    "render": ("report.exporter", "render"),
    "run": ("api.racing", "run"),
    "standing": ("report.result", "standing_of"),
}
"""Name → its module and its name there, imported when it is first used: ``stackrace --help`` pays for none."""


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, original = _HOMES[name]
    return getattr(import_module(f".{module}", __name__), original)


def __dir__() -> list[str]:
    return __all__
