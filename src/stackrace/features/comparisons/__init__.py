"""Five comparisons published between 2007 and 2010, raced again."""

from ...extensions import BundledApp, NamedRaces, StoredResults

EXTENSIONS = (
    NamedRaces("historic/", f"{__name__}.named"),
    BundledApp("ladder", f"{__name__}.apps:ladder"),
    BundledApp("rails", f"{__name__}.apps:rails"),
    StoredResults("historic", "Published comparisons, run again", f"{__name__}.stored"),
)
