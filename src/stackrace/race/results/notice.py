"""What a feature makes of a standing: how what the project runs today is placed in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Self

__all__ = ["StandingNotice"]


class StandingNotice:
    """Subclasses are frozen dataclasses; a race's JSON document shows them as ``current``."""

    __slots__ = ()

    unshown: ClassVar[tuple[str, ...]] = ()
    """Fields that the document does without."""

    @property
    def is_news(self) -> bool:
        """Whether it comes before the answer, and explains the errors of its stack."""
        return False

    def renamed(self, name: Callable[[str], str]) -> Self:
        """Return it with other names for the stacks that it is compared with."""
        return self
