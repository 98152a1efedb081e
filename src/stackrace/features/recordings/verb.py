"""``stackrace record``."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...base.numbers import duration, things
from ...base.text import one_line
from ...base.units import DURATION
from ...cli.edge import StatusLine
from ...cli.options import Quantity
from ...cli.request_flags import APP_OPTIONS, RequestFlags, request_flags

if TYPE_CHECKING:
    from ...base.errors import LaunchError
    from ...deploy.preparing import OnPreparing
    from ...measure.recording import Recording
    from ...measure.workload import Request
    from .record import RecordingProxy

_LOOK_S = 0.2


@click.command(
    epilog="""\b
Examples:
  stackrace record http://127.0.0.1:8000          your app, which runs already
  stackrace record                                the project in this folder
  stackrace record race.toml --out browse.har     the app of a race file
  stackrace record --for 60s --json               in scripts"""
)
@click.argument("subject", metavar="[URL|RACE.toml]", required=False)
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("session.har"),
    help="Where to write the recording. Default: session.har; a file that exists is not replaced.",
)
@click.option("--for", "length_s", type=Quantity(DURATION), help="Stop after this time. Default: at Ctrl-C.")
@click.option("--port", type=click.IntRange(1, 65535), help="Port to browse at. Default: any free port.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document; progress goes to stderr.")
@request_flags(*APP_OPTIONS)
def command(
    subject: str | None, out: Path, length_s: float | None, port: int | None, as_json: bool, flags: RequestFlags
) -> None:
    """Record a visit to your app in any browser, as a session to race. Ctrl-C ends it and writes the file.

    A proxy on this machine (mitmproxy, in a private environment) stands in front of the app at URL, or starts the
    app of RACE.toml. Default: the project in this folder. The file (HAR) holds cookies and what you type: keep it
    to yourself.
    """
    from ...base.errors import InputError
    from ...cli.announcer import Announcer
    from ...cli.edge import refuse_unwritable
    from ...cli.showing import print_document
    from ...cli.signals import undisturbed
    from ...deploy.sockets import claim
    from .record import keep

    refuse_unwritable("--out", out)
    if out.exists():
        raise InputError(f"--out {out} exists; name another file, or remove it")
    if port is not None:
        claim(port)
    with Announcer() as say, _recording(subject, flags, port, say) as proxy:
        say.done()
        failure = _watch(proxy, length_s)
        with undisturbed():
            recording = keep(proxy.stop(), proxy.side, out)
    if as_json:
        print_document(_document(recording, out))
    else:
        for line in _lines(recording, out, Path(subject) if subject and not _is_url(subject) else None):
            click.echo(line)
    if failure is not None:
        raise failure


def _is_url(subject: str) -> bool:
    return "://" in subject


def _recording(
    subject: str | None, flags: RequestFlags, port: int | None, say: OnPreparing
) -> AbstractContextManager[RecordingProxy]:
    from ...base.errors import InputError
    from ...base.text import url_meant
    from ...race.request.race_file import read_request
    from ...race.request.request import RaceRequest
    from .record import recording_app, recording_url

    if subject is not None and not _is_url(subject) and (url := url_meant(subject)) and not Path(subject).exists():
        raise InputError(f"{subject} is no URL; did you mean {url}?")
    if subject is not None and _is_url(subject):
        if flags.given:
            raise click.UsageError("a URL says which app to record; give flags about the app without one")
        return recording_url(subject, port, say)
    request = RaceRequest(folder=Path.cwd())
    if subject is not None:
        request = read_request(subject, flags.given.get("servers"), recordings=False)
    return recording_app(flags.over(request), port, say)


def _watch(proxy: RecordingProxy, length_s: float | None) -> LaunchError | None:
    """Show what arrives until the time is over or Ctrl-C; return why it ended where nobody wanted that."""
    from ...base.errors import LaunchError

    click.echo(f"Browse {proxy.origin}/ and press Ctrl-C when you are done.", err=True)
    until = None if length_s is None else time.monotonic() + length_s
    requests, line = 0, StatusLine()
    try:
        while until is None or time.monotonic() < until:
            proxy.require_alive()
            for seen in proxy.news():
                requests += 1
                line.tell(f"{things(requests, 'request')}; the last: {one_line(seen)}")
            time.sleep(_LOOK_S)
    except LaunchError as error:
        return error
    except KeyboardInterrupt:
        pass
    finally:
        if line.changes:
            click.echo("", err=True)
    return None


def _lines(recording: Recording, out: Path, race_file: Path | None) -> Iterator[str]:
    """Yield what a recording holds, and how to race it."""

    counts = _counts(recording.workload.requests)
    yield (
        f"{out} holds {things(counts['requests'], 'request')}: {counts['parts']} for files that pages load, "
        f"{counts['with_tokens']} with tokens of earlier pages; {duration(_pause_s(recording))} of pauses."
    )
    if recording.skipped:
        yield f"Left out: {'; '.join(f'{number} × {why}' for why, number in recording.skipped.items())}."
    race = ["stackrace", "run", *([str(race_file)] if race_file is not None else []), "--session", str(out)]
    yield f"Race it: {shlex.join(race)} (with its pauses: --think)"


def _document(recording: Recording, out: Path) -> dict[str, object]:
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
