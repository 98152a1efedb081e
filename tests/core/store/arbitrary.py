"""Arbitrary races: every field of every type that a store keeps, with the values that hurt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from stackrace.base import ids
from stackrace.base.verdict import Finding
from stackrace.extensions import Part, declared, load
from stackrace.measure.host import HostFacts
from stackrace.measure.launch import Launch
from stackrace.measure.load import Load, Quantiles
from stackrace.race.results.parts import Parts
from stackrace.race.results.race import Race

TEXT = st.text(st.characters(), max_size=12)  # NULs and lone surrogates included
COUNT = st.integers(0, 2**63 - 1)
PLAIN = {
    str: TEXT,
    float: st.floats(allow_nan=False),
    int: COUNT,
    bool: st.booleans(),
    bytes: st.binary(max_size=64),
    NoneType: st.none(),
}


def few(values):
    return st.lists(values, max_size=3).map(tuple)


def mapping(values):
    return st.dictionaries(TEXT, values, max_size=3)


@cache
def of(kind):
    """Return a strategy for a type; a dataclass is built from all of its fields, also from those added to it."""
    if is_dataclass(kind):
        hints, chosen = get_type_hints(kind), OTHERS.get(kind, {})
        names = [each.name for each in fields(kind)]
        return st.builds(kind, **{name: chosen[name] if name in chosen else of(hints[name]) for name in names})
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return st.one_of(*map(of, args))
    if origin is tuple:
        return few(of(args[0]))
    if origin is Mapping:
        return st.dictionaries(of(args[0]), of(args[1]), max_size=3)
    return st.sampled_from(kind) if issubclass(kind, Enum) else PLAIN[kind]


def parts():
    """A strategy of what features keep with races."""
    kinds = [of(load(part.import_path)) for part in declared(Part)]
    held = st.lists(st.one_of(*kinds), max_size=len(kinds))
    return held.map(lambda held: Parts({part.name: part for part in held}))


WORD = TEXT | st.integers(0, 2**40)
OTHERS = {
    Race: {
        "id": st.just(""),
        "started_at": st.datetimes().map(lambda moment: moment.isoformat() + "+00:00"),
        # as in race files
        "difference": st.floats(0, 1, exclude_min=True, exclude_max=True),
        "seed": st.integers(),
        "parts": st.deferred(parts),
    },
    Launch: {"id": st.just(""), "block": st.integers(0, 2**31 - 1)},
    Load: {"seed": st.integers(0, 2**64 - 1)},
    Quantiles: {"censored": st.frozensets(st.sampled_from(["p50", "p90", "p99", "p999", "max"]))},
    HostFacts: {"limits": mapping(st.integers())},
    Finding: {
        "facts": mapping(WORD | st.floats(allow_nan=False, allow_infinity=False) | few(WORD) | mapping(COUNT))
    },
}
"""What a type alone does not say."""
RACE = of(Race)


def with_fresh_ids(race):
    launches = tuple(replace(launch, id=ids.generate()) for launch in race.launches)
    return replace(race, id=ids.generate(), launches=launches)
