"""Paths and texts within values, replaced wherever they stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar, cast

__all__ = ["map_paths"]

T = TypeVar("T")


def _same(value: Any) -> Any:
    return value


def map_paths(value: T, path: Callable[[Path], Path] = _same, text: Callable[[str], str] = _same) -> T:
    """Return ``value`` with each path and each text in it as ``path`` and ``text`` make them.

    They are looked for in dataclasses, tuples, sets, and mappings with their keys; choices of enumerations stay.

    >>> map_paths((Path("/srv/a"), "/srv/b"), text=lambda text: text.replace("/srv", ""))
    (PosixPath('/srv/a'), '/b')
    """

    def mapped(value: Any) -> Any:
        match value:
            case Enum():
                return value
            case str():
                return text(value)
            case Path():
                return path(value)
            case tuple():
                return tuple(map(mapped, value))
            case frozenset():
                return frozenset(map(mapped, value))
            case Mapping():
                return {mapped(name): mapped(each) for name, each in value.items()}
        if is_dataclass(value) and not isinstance(value, type):
            return replace(value, **{each.name: mapped(getattr(value, each.name)) for each in fields(value)})
        return value

    return cast(T, mapped(value))
