"""What was recorded: for people, and as a document."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...base.numbers import things
from ...base.text import one_line
from ...measure.recording import Recording
from ...measure.workload import Request
from ...report import figures


def progress(requests: int, latest: str) -> str:
    """Return the line that shows how a recording goes on."""
    return f"{things(requests, 'request')}; the last: {one_line(latest)}"


def lines(recording: Recording, out: Path, race_file: Path | None) -> Iterator[str]:
    """Yield what a recording holds, and how to race it."""
    counts = _counts(recording.workload.requests)
    yield (
        f"{out} holds {things(counts['requests'], 'request')}: {counts['parts']} for files that pages load, "
        f"{counts['with_tokens']} with tokens of earlier pages; {figures.duration(_pause_s(recording))} of pauses."
    )
    if recording.skipped:
        yield f"Left out: {'; '.join(f'{number} × {why}' for why, number in recording.skipped.items())}."
    race = ["stackrace", "run", *([str(race_file)] if race_file is not None else []), "--session", str(out)]
    yield f"Race it: {shlex.join(race)} (with its pauses: --think)"


def document(recording: Recording, out: Path) -> dict[str, object]:
    """Return what a recording holds as the JSON output has it."""
    return {
        "file": str(out.absolute()),
        "origin": recording.origin,
        **_counts(recording.workload.requests),
        "pause_s": _pause_s(recording),
        "left_out": dict(recording.skipped),
    }


def _counts(requests: Sequence[Request]) -> dict[str, int]:
    parts = sum(request.embedded for request in requests)
    return {
        "requests": len(requests),
        "pages_and_calls": len(requests) - parts,
        "parts": parts,
        "with_tokens": sum(bool(request.fills) for request in requests),
    }


def _pause_s(recording: Recording) -> float:
    return sum(request.think_s for request in recording.workload.requests)
