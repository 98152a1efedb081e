"""``stackrace record``."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...base.numbers import duration, things

if TYPE_CHECKING:
    from ...measure.recording import Recording


@click.command(
    epilog="""\b
Examples:
  stackrace record localhost.har                  what a browser exported
  stackrace record localhost.har --out browse.har
  stackrace run --session browse.har              race it"""
)
@click.argument("exported", metavar="FILE")
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("session.har"),
    help="Where to write the session. Default: session.har; a file that exists is not replaced.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(exported: str, out: Path, as_json: bool) -> None:
    """Make a session to race of FILE, a visit that a browser exported as HAR.

    In Chromium and Firefox: developer tools, Network, reload the page, browse, then "Save all as HAR". The session
    has only what is replayed, and says what is left out. It holds cookies and what you typed: keep it to yourself.
    """
    from ...app.environment import project_variables
    from ...base.errors import InputError
    from ...cli.showing import print_document
    from ...cli.stdio import refuse_unwritable
    from .record import keep

    if "://" in exported:
        raise InputError(
            f"{exported} is a URL; visit it in a browser, and give the HAR file that its developer tools export"
        )
    refuse_unwritable("--out", out)
    if out.exists():
        raise InputError(f"--out {out} exists; name another file, or remove it: rm {shlex.quote(str(out))}")
    project_variables(Path.cwd())
    recording = keep(Path(exported), out)
    document = _document(recording, out)
    if as_json:
        print_document(document)
    else:
        for line in _lines(recording, out):
            click.echo(line)


def _lines(recording: Recording, out: Path) -> Iterator[str]:
    counts = _counts(recording)
    yield (
        f"{out} holds {things(counts['requests'], 'request')}: {counts['parts']} for files that pages load, "
        f"{counts['with_tokens']} with tokens of earlier pages; {duration(_pause_s(recording))} of pauses."
    )
    if recording.skipped:
        yield f"Left out: {'; '.join(f'{number} × {why}' for why, number in recording.skipped.items())}."
    yield f"Race it: {shlex.join(['stackrace', 'run', '--session', str(out)])} (with its pauses: --think)"


def _document(recording: Recording, out: Path) -> dict[str, object]:
    return {
        "file": str(out.absolute()),
        "origin": recording.origin,
        **_counts(recording),
        "pause_s": _pause_s(recording),
        "left_out": dict(recording.skipped),
    }


def _counts(recording: Recording) -> dict[str, int]:
    requests = recording.workload.requests
    parts = sum(request.embedded for request in requests)
    return {
        "requests": len(requests),
        "pages_and_calls": len(requests) - parts,
        "parts": parts,
        "with_tokens": sum(bool(request.fills) for request in requests),
    }


def _pause_s(recording: Recording) -> float:
    return sum(request.think_s for request in recording.workload.requests)
