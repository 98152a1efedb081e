"""Applications: the bundled one, and the loader of the user's own project in its own environment."""

from .bundle import BUNDLES, DJANGO, Bundled, bundled, digest, is_bundled
from .data_places import DatabaseServer, DataPlaces, data_places
from .demanded import demanded, rule_for
from .entry import COUNTING_MODULE, ENTRY_MODULE, counting_source, deployed_source, entry_source
from .env_file import read_env_files
from .environment import app_environment
from .examination import DjangoFacts, Examination, Exchange, PythonFacts, Reply, ThreadPool
from .examine import examine, python_facts
from .golden import golden, loosened
from .import_places import ImportPlaces, import_places
from .interpreter import Buildable, find_python
from .projects import Project, detect, entry_named, flags_named
from .ruby import find_ruby
from .target import entry_of

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
