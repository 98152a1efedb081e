"""Data that features store with a race or a request, each part under its own name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, make_dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from ...base.codec import decode, encode
from ...extensions import Part, RequestPart, declared, load

if TYPE_CHECKING:
    from pydantic_core import CoreSchema


class HeldPart:
    """Data that a feature stores with another record. Subclasses are frozen dataclasses for the codec."""

    __slots__ = ()

    name: ClassVar[str]
    """Key under which it is stored."""


class RacePart(HeldPart):
    """Data that a feature stores with a race."""

    __slots__ = ()


_Held = TypeVar("_Held", bound=HeldPart)


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a race, or of a request."""

    held: Mapping[str, Any] = field(default_factory=dict)
    """Parts by name; data of features that are not installed stays as it was read."""

    def get(self, kind: type[_Held]) -> _Held | None:
        """Return the part of ``kind``; None where there is none."""
        part = self.held.get(kind.name)
        return part if isinstance(part, kind) else None

    def known(self) -> tuple[RacePart, ...]:
        """Return all parts whose features are installed."""
        return tuple(part for part in self.held.values() if isinstance(part, RacePart))

    def having(self, part: HeldPart) -> Self:
        """Return these parts with ``part`` in place of the one of its name."""
        return replace(self, held={**self.held, part.name: part})

    def lacking(self, kind: type[RacePart]) -> Self:
        """Return these parts without the one of ``kind``."""
        return replace(self, held={name: part for name, part in self.held.items() if name != kind.name})

    def __stored__(self) -> dict[str, Any]:
        """Return the parts as the codec writes them."""
        return {name: encode(part) if isinstance(part, HeldPart) else part for name, part in self.held.items()}

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        """Return the schema that reads an object of parts by name."""
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(_read)


def _read(document: Any) -> Parts:
    if isinstance(document, Parts):
        return document
    if not isinstance(document, Mapping):
        raise ValueError("parts are an object")
    kinds = {part.name: part.import_path for part in declared(Part)}
    kinds |= {part.name: part.import_path for part in declared(RequestPart)}
    return Parts(
        {
            name: decode(load(kinds[name]), value, name) if name in kinds else value
            for name, value in document.items()
        }
    )


@cache
def shown_type() -> type:
    """Return the record type of the parts that a race's JSON document shows, each None if the race has none."""
    members = [
        (part.member, load(part.import_path) | None, field(metadata={"description": part.about}))
        for part in declared(Part)
        if part.member
    ]
    return make_dataclass("ShownParts", members, frozen=True, slots=True, kw_only=True)


def shown(parts: Parts) -> Any:
    """Return ``parts`` as a value of ``shown_type``."""
    return shown_type()(**{part.member: parts.held.get(part.name) for part in declared(Part) if part.member})
