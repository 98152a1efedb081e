"""``stackrace load``: its target, one run, and the result shown or refused."""

from __future__ import annotations

import os
import shlex
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from ...api.load.measure import LoadSetup, measure, open_connections, refuse_too_much, set_up_load
from ...api.load.options import LoadOptions
from ...base.errors import InputError, RefusedError
from ...base.numbers import count, duration, number
from ...base.text import url_meant
from ...measure.engine.load_run import FinishedRun
from ...measure.load import Load, LoadResult
from ..announcer import Announcer
from ..options import race_file_and_rest, requested
from ..request_flags import RequestFlags, spelt
from ..showing import show_result
from ..stdio import StatusLine, refuse_unwritable

if TYPE_CHECKING:
    from ...race.request.request import RaceRequest

_BAR = 24
_RECENT = 5
"""Number of drawings over which the rate shown is averaged."""


class ProgressLine:
    """Line on a terminal that is redrawn again and again, after the words ``before``; does nothing elsewhere."""

    def __init__(
        self, load: Load, warmup_s: float, *, quiet: bool, before: str = "", stream: TextIO | None = None
    ) -> None:
        self._load = load
        self._warmup_s = warmup_s
        self._before = before
        self._line = StatusLine(stream, quiet=quiet)
        self._coloured = "NO_COLOR" not in os.environ
        self._recent: deque[tuple[float, int]] = deque([(warmup_s, 0)], maxlen=_RECENT)
        self.clear = self._line.clear

    def draw(self, ok: int, errors: int, elapsed_s: float) -> None:
        """Show the run ``elapsed_s`` seconds after its start, warm-up included."""
        if not self._line.changes:
            return
        rate_per_s = self._rate_per_s(ok, elapsed_s)
        line = self._before + _progress_text(self._load, self._warmup_s, ok, errors, elapsed_s, rate_per_s)
        self._line.show(click.style(line, fg="red") if errors and self._coloured else line)

    def calibrating(self) -> None:
        """Show that the engine measures its own limit before the run."""
        self._line.show("measuring what the engine itself can do here …")

    def connecting(self, opened: int, connections: int) -> None:
        """Show the number of connections that are open before the run."""
        self._line.show(f"{self._before}connecting: {count(opened)} of {count(connections)} are open")

    def _rate_per_s(self, ok: int, elapsed_s: float) -> float:
        if elapsed_s <= self._warmup_s:
            return 0.0
        self._recent.append((elapsed_s, ok))
        (first_s, first), (last_s, last) = self._recent[0], self._recent[-1]
        return (last - first) / (last_s - first_s) if last_s > first_s else 0.0


def _progress_text(load: Load, warmup_s: float, ok: int, errors: int, elapsed_s: float, rate_per_s: float) -> str:
    if elapsed_s < warmup_s:
        return f"warming up, {_left(warmup_s - elapsed_s)}"
    run_s = elapsed_s - warmup_s
    if load.duration_s is not None:
        done, left_s = run_s / load.duration_s, load.duration_s - run_s
    else:
        planned = load.requests or 1
        done = (ok + errors) / planned
        left_s = _left_s(load, planned - ok - errors, run_s, rate_per_s)
    done = min(max(done, 0.0), 1.0)
    filled = round(_BAR * done)
    parts = [f"{'━' * filled}{'─' * (_BAR - filled)} {done:4.0%}", f"{number(rate_per_s)}/s"]
    if errors:
        parts.append(f"{count(errors)} error{'s' if errors > 1 else ''}")
    parts.append(_left(left_s) if left_s < float("inf") else "waiting for answers")
    return "  ".join(parts)


def _left(seconds: float) -> str:
    return f"{duration(round(max(seconds, 0.0), 1))} left"


def _left_s(load: Load, missing: int, run_s: float, rate_per_s: float) -> float:
    """Return the seconds left: an open loop keeps its own rate, a closed one the recent rate."""
    if load.rate_per_s is not None and load.requests is not None:
        return load.requests / load.rate_per_s - run_s
    return missing / rate_per_s if rate_per_s > 0 else float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class RacedTarget:
    """Race request with the stack and the workload to load."""

    request: RaceRequest | None = None
    """None: the load goes to URLs, not to a stack."""
    stack: str | None = None
    """Path of the stack; None: the request's only one."""
    workload: str | None = None
    """Name of the workload; None: the request's only one."""

    @contextmanager
    def set_up(self, options: LoadOptions) -> Iterator[LoadSetup]:
        """Yield the target and settings of the load, and show the preparation; see ``load_setup``."""
        if self.request is None:
            yield set_up_load(options)
            return
        # imports all that prepares a race, which takes a second
        from ...api.load.raced import load_setup

        with (
            Announcer() as say,
            load_setup(options, self.request, say, stack=self.stack, workload=self.workload) as setup,
        ):
            say.done()
            yield setup


def raced_target(
    words: Sequence[str], app: RequestFlags, *, stack: str | None, workload: str | None, session: bool = False
) -> tuple[RacedTarget, tuple[str, ...]]:
    """Return the target, and the URLs among ``words``; raise InputError for a wrong race file.

    ``app`` has the flags about the app that a stack starts with, as for a race; ``session`` is True if --session is
    given.
    """
    race_file, urls = race_file_and_rest(words)
    for word in urls:
        if "://" not in word and not url_meant(word):
            _refuse_misspelt(word)
    if race_file is None and workload is not None:
        command = shlex.join(["stackrace", "load", "race.toml", "--workload", workload])
        raise InputError(f"--workload names one of a race file; give the file, too, as in: {command}")
    if urls:
        _refuse_stack(stack, app, has_file=race_file is not None)
    if session and "urls" in app.given:
        raise InputError("give --session or --url, not both")
    if race_file is None and (urls or (stack is None and not app.given)):
        return RacedTarget(), urls
    request = app.over(requested(race_file, app.given.get("servers")))
    return RacedTarget(request=request, stack=stack, workload=workload), urls


def _refuse_misspelt(word: str) -> None:
    from ...race.request.race_file import race_file_near

    if near := race_file_near(Path(word)):
        raise InputError(f"{word!r} is neither a URL nor a race file; did you mean {near}?")


def _refuse_stack(stack: str | None, app: RequestFlags, *, has_file: bool) -> None:
    if stack is not None:
        raise InputError("give a URL or --stack, not both: a server that runs, or a stack to start")
    # a race file may name servers that only --servers has
    for name in sorted(app.given.keys() - ({"servers"} if has_file else set())):
        raise InputError(
            f"{spelt(name)} is about the app of a stack that is started, but the URL names a server that runs: "
            f"leave {spelt(name)} out, or give --stack gunicorn instead of the URL"
        )


def run_and_show(options: LoadOptions, target: RacedTarget, *, as_json: bool, hdr: Path | None) -> None:
    """Run ``stackrace load`` and show its result. Raise InputError before anything is sent."""
    from ...report.load_result import KIND

    refuse_unwritable("--hdr", hdr)
    with target.set_up(options) as setup:
        ran = _measured(setup, quiet=as_json)
    if hdr is not None:
        _write_hgrm(hdr, ran.result)
    show_result(KIND, ran, as_json=as_json)
    if ran.result.counts.scheduled and not ran.result.counts.ok and not ran.interrupted:
        why = "the document says how they failed" if as_json else "see the reasons above"
        raise RefusedError(f"there was no right answer; {why}")


def _measured(setup: LoadSetup, *, quiet: bool) -> FinishedRun:
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
        # the result is valid all the same
        click.echo(f"--hdr {path} could not be written: {error.strerror}", err=True)
