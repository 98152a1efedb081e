"""Published comparisons, raced again on today's software: ``stackrace run historic/lighttpd-2008``."""

from .files import historic_file

__all__ = ["historic_file"]
