"""What kind of result a race has: a standing, or what the feature that asked for it makes of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from ..extensions import ResultKind, declared, load
from ..race.results.comparison import Comparison
from ..race.results.parts import RacePart
from ..race.results.race import Race
from .sheet import Section

__all__ = ["Kind", "kind_of"]


class Kind(Protocol):
    """How one kind of result is told."""

    def sections(self, race: Race) -> Iterable[Section]:
        """Return the report, in order."""

    def heading(self, race: Race) -> str:
        """Return the first line of the report in Markdown, escaped; empty for none."""

    def document(self, race: Race) -> dict[str, Any]:
        """Return the JSON document as plain values."""

    def page(self, race: Race) -> str:
        """Return the self-contained HTML page."""

    def compared(self, race: Race) -> Comparison | None:
        """Return what it says of head against base; None where it compares no sides."""

    def leading(self, race: Race) -> str:
        """Return how it stands after the blocks of a running race, for one line; empty where nobody knows."""


def kind_of(race: Race) -> Kind | None:
    """Return the kind of result that ``race`` has; None for a standing."""
    for kind in declared(ResultKind):
        if isinstance(race.parts.held.get(kind.part), RacePart):
            found: Kind = load(kind.place)
            return found
    return None
