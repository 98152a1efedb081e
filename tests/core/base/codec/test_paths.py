"""Paths and texts within values are replaced wherever they stand, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from stackrace.base.codec import map_paths


class Kind(StrEnum):
    PLAIN = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    folder: Path
    name: str = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    held: tuple[Held, ...]
    kind: Kind = Kind.PLAIN
    by_name: Mapping[str, Path | None] = field(default_factory=dict)
    marks: frozenset[str] = frozenset()
    size: int = 3


HOLDER = Holder(held=(Held(folder=Path("a")),), by_name={"b": Path("b"), "c": None}, marks=frozenset({"d"}))


def test_every_path_and_every_text_is_reached_and_choices_stay():
    assert map_paths(HOLDER, path=lambda path: Path("/srv", path), text=str.upper) == Holder(
        held=(Held(folder=Path("/srv/a"), name="PLAIN"),),
        by_name={"B": Path("/srv/b"), "C": None},
        marks=frozenset({"D"}),
    )


def test_without_a_change_the_value_is_equal():
    assert map_paths(HOLDER) == HOLDER
    assert isinstance(map_paths(HOLDER).kind, Kind)
