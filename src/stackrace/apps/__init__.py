"""Applications: the bundled one, and the loader of the user's own project in its own environment."""

from .bundle import DJANGO, Bundled, bundled, digest
from .detect import Project, detect
from .entry import COUNTING_MODULE, ENTRY_MODULE, counting_source, entry_source
from .environment import app_environment
from .examination import DjangoFacts, Examination, Exchange, PythonFacts, Reply, RubyFacts
from .examine import examine
from .golden import golden
from .interpreter import Buildable, Interpreter, find_python
from .leash import leash
from .ruby import find_ruby
from .target import entry_of

__all__ = [
    "COUNTING_MODULE",
    "DJANGO",
    "ENTRY_MODULE",
    "Buildable",
    "Bundled",
    "DjangoFacts",
    "Examination",
    "Exchange",
    "Interpreter",
    "Project",
    "PythonFacts",
    "Reply",
    "RubyFacts",
    "app_environment",
    "bundled",
    "counting_source",
    "detect",
    "digest",
    "entry_of",
    "entry_source",
    "examine",
    "find_python",
    "find_ruby",
    "golden",
    "leash",
]
