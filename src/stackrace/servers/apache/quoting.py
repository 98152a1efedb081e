"""How Apache and the guests inside it quote."""

from __future__ import annotations

from ..quoting import in_quotes

__all__ = ["quoted"]


def quoted(text: str) -> str:
    """Return ``text`` in quotes, where ``${NAME}`` is a variable, and ``* ? [`` make patterns in sections."""
    return in_quotes(text, escaped='"\\', never=("${", "*", "?", "["))
