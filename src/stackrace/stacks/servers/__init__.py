"""The catalogue: one folder per server, the same files in each. ``catalogue()`` finds them all."""

from ..native_files import Concern
from ..native_options import NativeOptions, Option
from .catalogue import Catalogue, catalogue
from .contract import BACKLOG, KEEP_ALIVE_S, Fault, Guest, Needs, Recipe, Server
from .settings import command_words, fixed_by
from .site import Endpoint, Fragment, Hosted, PythonRuntime, RubyRuntime, Site
from .templates import PLAIN

__all__ = [
    "BACKLOG",
    "KEEP_ALIVE_S",
    "PLAIN",
    "Catalogue",
    "Concern",
    "Endpoint",
    "Fault",
    "Fragment",
    "Guest",
    "Hosted",
    "NativeOptions",
    "Needs",
    "Option",
    "PythonRuntime",
    "Recipe",
    "RubyRuntime",
    "Server",
    "Site",
    "catalogue",
    "command_words",
    "fixed_by",
]
