"""All faults, by family."""

from __future__ import annotations

from collections.abc import Mapping

from . import configuration, connections, generator, leftovers, machine, racewide, server
from .fault import Fault
from .racing import told

ANSWERS = (
    told("wrong-body", "another page after 200 right ones", "wrong body"),
    told("error-page", "one in 50 is an error page with status 200", "wrong body"),
    told("oversized", "every page has a line too many", "wrong body"),
    told("one-percent500", "503 for one request in 100", "unexpected status"),
    told("truncated", "one in 50 ends in the middle", "failures"),
    told("garbage", "one in 50 is no HTTP", "failures"),
    told("surplus", "bytes that belong to nothing follow each answer", "failures", "bytes unaccounted"),
    told("wrong-at-once", "the wrong page from the start", "gave a wrong answer"),
)
"""Answers that are wrong, cut off, or no answers."""

CACHES = (
    told("remembered", "a cache that strips every sign of itself", "nonces lost", nonce=True),
    told("aged", "answers with Age and X-Cache", "cached answers"),
    told("stale-date", "a Date of a minute ago", "stale dates"),
    told("frozen-date", "a Date that stands still", "stale dates", seconds=4.0),
)
"""Answers that somebody remembered."""

FAMILIES: Mapping[str, tuple[Fault, ...]] = {
    "machine": machine.FAULTS,
    "generator": generator.FAULTS,
    "server": server.FAULTS,
    "answers": ANSWERS,
    "caches": CACHES,
    "connections": connections.FAULTS,
    "leftovers": leftovers.FAULTS,
    "configuration": configuration.FAULTS,
    "race-wide": racewide.FAULTS,
}
FAULTS: tuple[Fault, ...] = tuple(fault for family in FAMILIES.values() for fault in family)
