"""Published comparisons, run again on today's software: ``stackrace run historic/lighttpd-2008``.

Each is a folder: its figures and claims as data in ``comparison.toml``, and one race file for each part.
"""

from .files import NAMES, comparison_name, part_file
from .judging import judged
from .kept import Kept, keep, latest
from .reading import read_comparison
from .requesting import Asked, part_request

__all__ = [
    "NAMES",
    "Asked",
    "Kept",
    "comparison_name",
    "judged",
    "keep",
    "latest",
    "part_file",
    "part_request",
    "read_comparison",
]
