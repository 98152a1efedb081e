"""Under which names one stack races more than once: as its own twin, or as the side of a comparison."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["TWIN", "Side", "original_path", "side_of", "side_path", "twin_path", "without_side"]

TWIN = "#twin"


def twin_path(path: str) -> str:
    """Return the name under which the hidden twin of the stack ``path`` races; no stack is spelled so."""
    return path + TWIN


def original_path(path: str) -> str:
    """Return the path of the stack that races under the name ``path``: its own, unless it is a twin's."""
    return path.removesuffix(TWIN)


class Side(StrEnum):
    """Which of two variants of one app or of one stack is raced, where both race under one path."""

    BASE = "base"
    HEAD = "head"
    ORIGINAL = "original"
    """As the race deployed it."""
    EXPORTED = "exported"
    """As its exported files deploy it."""


def side_path(path: str, side: Side) -> str:
    """Return the name under which the variant ``side`` of ``path`` races, a stack or a twin; none is spelled so."""
    own = original_path(path)
    return f"{own}#{side}{path[len(own) :]}"


def side_of(path: str) -> Side | None:
    """Return which variant races under the name ``path``, or under it as a twin; None for no variant."""
    return next((side for side in Side if original_path(path).endswith(f"#{side}")), None)


def without_side(path: str) -> str:
    """Return the path of the stack of which ``path`` names a variant; a twin stays one."""
    side = side_of(path)
    if side is None:
        return path
    own = original_path(path)
    return own.removesuffix(f"#{side}") + path[len(own) :]
