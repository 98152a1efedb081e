"""What this machine does not have, as a value."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Lack"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lack:
    """One thing that is not installed here."""

    name: str
    """As ``stackrace install`` takes it: a server, a service or a bundled app."""
    missing: str
    """What is not there: ``no program nginx``."""
    packages: tuple[str, ...] = ()
    """The Debian packages that bring it."""
    elsewhere: str = ""
    """Where to get it, in a sentence, where Debian has no package of it."""

    @property
    def state(self) -> str:
        """In one word: whether ``stackrace install`` brings it, or it is the user's own to get."""
        return "not installed" if self.elsewhere else "missing"

    @property
    def install(self) -> str:
        """The command that brings it; empty where there is none."""
        return "" if self.elsewhere else f"stackrace install {self.name}"

    @property
    def words(self) -> str:
        """Name and what is missing, in one phrase."""
        return f"{self.name} ({self.missing})"
