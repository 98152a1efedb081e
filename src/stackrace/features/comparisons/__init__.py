"""Published comparisons, run again on today's software: ``stackrace run historic/lighttpd-2008``.

Each is a folder: its figures and claims as data in ``comparison.toml``, and one race file for each part. Out of
that ``.reading`` makes a `Comparison`, ``.requesting`` what each part asks to be raced, ``.judging`` what its
races say of each claim, and ``.kept`` remembers which races those were. Nothing heavy is imported here.
"""

from .files import NAMES, comparison_name, part_file

__all__ = ["NAMES", "comparison_name", "part_file"]
