"""The five comparisons that were published between 2007 and 2010, raced again."""

from ...extensions import NamedRaces

EXTENSIONS = (NamedRaces("historic/", f"{__name__}.named"),)
