"""The catalogue: one folder per server, the same files in each. ``catalogue()`` finds them all."""

from .catalogue import Catalogue, catalogue
from .contract import (
    BACKLOG,
    KEEP_ALIVE_S,
    Endpoint,
    Fragment,
    Guest,
    Needs,
    Recipe,
    Server,
    Site,
)
from .hosted import Hosted, PythonRuntime, RubyRuntime
from .plain import PLAIN
from .processes import fixed_by

__all__ = [
    "BACKLOG",
    "KEEP_ALIVE_S",
    "PLAIN",
    "Catalogue",
    "Endpoint",
    "Fragment",
    "Guest",
    "Hosted",
    "Needs",
    "PythonRuntime",
    "Recipe",
    "RubyRuntime",
    "Server",
    "Site",
    "catalogue",
    "fixed_by",
]
