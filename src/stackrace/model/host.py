"""What the machine was while a race ran."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["HostFacts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """Facts that bound a race's meaning. ``limits`` holds kernel limits by their sysctl or rlimit name."""

    system: str
    kernel: str
    cpu: str
    cores: int
    memory_bytes: int
    virtual: str
    python: str
    limits: Mapping[str, int]
