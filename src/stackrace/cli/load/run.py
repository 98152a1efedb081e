"""``stackrace load``: who is loaded, one run of it, refused or shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from ...api.load.measure import LoadSetup, measure, open_connections, refuse_too_much
from ...api.load.options import LoadOptions
from ...api.load.raced import load_setup
from ...base.errors import InputError, RefusedError
from ...base.text import url_meant
from ...measure.engine.load_run import FinishedRun
from ...measure.load import LoadResult
from ...race.preparation.race_file import race_file_near
from ...race.request.request import RaceRequest
from ..announcer import Announcer
from ..arguments import apart, requested
from ..request_flags import RequestFlags, spelt
from ..showing import refuse_unwritable
from .progress import ProgressLine

__all__ = ["RacedTarget", "raced_target", "run_and_show"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RacedTarget:
    """A race's request, of which one stack or one workload is meant; None: only URLs were given."""

    request: RaceRequest | None = None
    stack: str | None = None
    workload: str | None = None

    @contextmanager
    def set_up(self, options: LoadOptions) -> Iterator[LoadSetup]:
        """Hold who is loaded, saying what is being prepared; see ``load_setup``."""
        with (
            Announcer() as say,
            load_setup(options, self.request, say, stack=self.stack, workload=self.workload) as setup,
        ):
            say.done()
            yield setup


def raced_target(
    words: Sequence[str], app: RequestFlags, *, stack: str | None, workload: str | None, session: bool = False
) -> tuple[RacedTarget, tuple[str, ...]]:
    """Return what is raced, and the URLs among ``words``; raises InputError for a wrong race file.

    ``app`` says which app a stack is started with, as for a race; ``session`` whether --session is given.
    """
    race_file, urls = apart(words)
    for word in urls:
        if "://" not in word and not url_meant(word) and (near := race_file_near(Path(word))):
            raise InputError(f"{word!r} is neither a URL nor a race file; did you mean {near}?")
    if race_file is None and workload is not None:
        raise InputError("--workload names one of a race file; give the file, too")
    if urls:
        _refuse_stack(stack, app, has_file=race_file is not None)
    if session and "urls" in app.given:
        raise InputError("give --session or --url, not both")
    if race_file is None and (urls or (stack is None and not app.given)):
        return RacedTarget(), urls
    request = app.over(requested(race_file, app.given.get("servers")))
    return RacedTarget(request=request, stack=stack, workload=workload), urls


def _refuse_stack(stack: str | None, app: RequestFlags, *, has_file: bool) -> None:
    """Refuse what is about a stack that is started, where a URL names a server that runs."""
    if stack is not None:
        raise InputError("give a URL or --stack, not both: a server that runs, or a stack to start")
    # a race file may name servers that are only found there
    for name in sorted(app.given.keys() - ({"servers"} if has_file else set())):
        raise InputError(
            f"{spelt(name)} is about the app of a stack that is started, but the URL names a server that runs: "
            f"leave {spelt(name)} out, or give --stack gunicorn instead of the URL"
        )


def run_and_show(options: LoadOptions, target: RacedTarget, *, as_json: bool, hdr: Path | None) -> None:
    """Do what ``stackrace load`` was asked for. Raises InputError before anything is sent."""
    from .show import show

    refuse_unwritable("--hdr", hdr)
    with target.set_up(options) as setup:
        ran = _ran(setup, quiet=as_json)
    if hdr is not None:
        _write_hgrm(hdr, ran.result)
    show(ran, as_json=as_json)
    if ran.result.counts.scheduled and not ran.result.counts.ok and not ran.interrupted:
        why = "the document says how they failed" if as_json else "see the reasons above"
        raise RefusedError(f"there was no right answer; {why}")


def _ran(setup: LoadSetup, *, quiet: bool) -> FinishedRun:
    options = setup.options
    load = options.load(open_connections(setup.over_tcp))
    notes = (*setup.target.notes, *refuse_too_much(load, setup.cores, over_tcp=setup.over_tcp))
    warmup_s = options.warmup or 0.0
    line = ProgressLine(load, warmup_s, quiet=quiet)
    return measure(setup, load, line, warmup_s=warmup_s, notes=notes)


def _write_hgrm(path: Path, result: LoadResult) -> None:
    from ...measure.engine.histogram import percentile_distribution
    from ..signals import uncut

    try:
        with uncut(path):
            path.write_text(percentile_distribution(result.histogram), encoding="ascii")
    except OSError as error:
        # the result stands all the same
        click.echo(f"--hdr {path} could not be written: {error.strerror}", err=True)
