"""Answers that are wrong, cut off, or no answers."""

from __future__ import annotations

from .fault import Fault
from .telling import told

FAULTS: tuple[Fault, ...] = (
    told("wrong-body", "another page after 200 right ones", "wrong body"),
    told("error-page", "one in 50 is an error page with status 200", "wrong body"),
    told("oversized", "every page has a line too many", "wrong body"),
    told("one-percent500", "503 for one request in 100", "unexpected status"),
    told("truncated", "one in 50 ends in the middle", "failures"),
    told("garbage", "one in 50 is no HTTP", "failures"),
    told("surplus", "bytes that belong to nothing follow each answer", "failures", "bytes unaccounted"),
    told("wrong-at-once", "the wrong page from the start", "gave a wrong answer"),
)
