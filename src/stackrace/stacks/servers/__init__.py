"""The catalogue: one folder per server, the same files in each. ``catalogue()`` finds them all."""

from .catalogue import Catalogue, catalogue
from .contract import BACKLOG, KEEP_ALIVE_S, Guest, Needs, Recipe, Server
from .settings import fixed_by
from .site import Endpoint, Fragment, Hosted, PythonRuntime, RubyRuntime, Site
from .templates import PLAIN

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
