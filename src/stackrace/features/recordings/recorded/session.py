"""From requests to a session: their order, the pauses between them, and what belongs to which page."""

from __future__ import annotations

from collections.abc import Sequence

from .candidate import Candidate
from .roles import Role, role
from .step import Step, pause_ns
from .tokens import with_tokens


def session_steps(candidates: Sequence[Candidate]) -> list[Step]:
    """Return the steps of a session.

    A part of a page is embedded, and without a pause, once its page has been seen. Everything else comes as long
    after all before it were complete as it did when it was recorded. What pages gave for later steps is traced.
    """
    pages: set[str | None] = set()
    complete_ns: int | None = None
    steps = []
    ordered = _in_order(candidates)
    for candidate in ordered:
        kind = role(candidate)
        if kind is Role.PAGE:
            pages.add(candidate.page)
        embedded = kind is Role.PART and candidate.page in pages
        think_ns = 0 if embedded else pause_ns(complete_ns, candidate.started_ns)
        ended_ns = candidate.ended_ns
        if ended_ns is not None:
            complete_ns = ended_ns if complete_ns is None else max(complete_ns, ended_ns)
        steps.append(candidate.step(think_ns, embedded))
    return with_tokens(steps, ordered)


def _in_order(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Sort by start; what has no readable date stays behind its neighbour."""
    dated: list[tuple[int, Candidate]] = []
    latest_ns = -(2**63)
    for candidate in candidates:
        latest_ns = latest_ns if candidate.started_ns is None else candidate.started_ns
        dated.append((latest_ns, candidate))
    return [candidate for _, candidate in sorted(dated, key=lambda pair: pair[0])]
