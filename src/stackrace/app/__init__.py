"""Applications: the bundled one, and the loader of the user's own project in its own environment."""

from .app import entry_of
from .bundle import BUNDLES, DJANGO, Bundled, bundled, digest, is_bundled
from .data_places import DatabaseServer, DataPlaces, ImportPlaces, data_places, import_places
from .entry import COUNTING_MODULE, ENTRY_MODULE, counting_source, deployed_source, entry_source
from .environment import app_environment, read_env_files
from .examination import DjangoFacts, Examination, Exchange, PythonFacts, Reply, ThreadPool
from .examine import examine, python_facts
from .golden import golden, loosened
from .interpreter import Buildable, find_python, find_ruby
from .projects import Project, detect, entry_named, flags_named
from .sameness import demanded, rule_for

__all__ = [
    "BUNDLES",
    "COUNTING_MODULE",
    "DJANGO",
    "ENTRY_MODULE",
    "Buildable",
    "Bundled",
    "DataPlaces",
    "DatabaseServer",
    "DjangoFacts",
    "Examination",
    "Exchange",
    "ImportPlaces",
    "Project",
    "PythonFacts",
    "Reply",
    "ThreadPool",
    "app_environment",
    "bundled",
    "counting_source",
    "data_places",
    "demanded",
    "deployed_source",
    "detect",
    "digest",
    "entry_named",
    "entry_of",
    "entry_source",
    "examine",
    "find_python",
    "find_ruby",
    "flags_named",
    "golden",
    "import_places",
    "is_bundled",
    "loosened",
    "python_facts",
    "read_env_files",
    "rule_for",
]
