"""Whose code was raced, and in which state."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Source"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A project's code as it was when it was raced."""

    project: str
    """A digest of where the project comes from: races with the same one are of the same project."""
    commit: str = ""
    """The whole hash of the commit that is checked out; empty where the project has none."""
    committed_at: str = ""
    """When that commit was made, in ISO 8601."""
    changed: bool = False
    """Whether files differ from that commit."""

    @property
    def short(self) -> str:
        """The commit as people write it: ``3f2a91c``, ``3f2a91c+`` with changes; empty without a commit."""
        return self.commit[:7] + "+" * self.changed
