"""What a race that tunes found, in any format but CSV, which has its slices."""

from __future__ import annotations

from ....race.results.race import Race
from ..model import Tuned

__all__ = ["rendered"]


def rendered(race: Race, found: Tuned, form: str) -> str:
    """Return the report as ``json``, ``markdown`` or ``html``; KeyError for any other form."""
    return _MAKERS[form](race, found)


def _json(race: Race, found: Tuned) -> str:
    from ....base.codec import pretty
    from .document import document

    return pretty(document(race, found))


def _markdown(race: Race, found: Tuned) -> str:
    from .markdown import markdown

    return markdown(race, found)


def _html(race: Race, found: Tuned) -> str:
    from .page import page

    return page(race, found)


_MAKERS = {"json": _json, "markdown": _markdown, "html": _html}
