"""Options of ``stackrace load``, flag by flag, and the contradictions between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...base.errors import InputError
from ...base.units import RATE
from ...measure.load import Load
from ...measure.workload import Nonce

_CLOSED_CONNECTIONS = 10
_DURATION_S = 10.0
_TIMEOUT_S = 10.0
_MOST_RATE_PER_S = 1e6
"""Highest rate; each request that falls due is counted, even if none can be sent."""

_NEEDS = {
    "poisson": "rate",
    "seed": "poisson",
    "masks": "expect_body",
    "chunked": "data",
    "expect_continue": "data",
    "think": "session",
}
_EXCLUDES = (
    ("duration", "requests", "one of them ends the run"),
    ("close", "requests_per_connection", "one connection per request, or one for so many"),
    ("insecure", "cacert", "accept any certificate, or trust these"),
    ("session", "method", "the recording says what to ask for"),
    ("session", "data", "the recording says what to send"),
    ("session", "expect_status", "the recording says what is right"),
    ("session", "expect_body", "the recording says what is right"),
    ("session", "expect_text", "the recording says what is right"),
    ("expect_text", "expect_body", "a text of the body, or all of it"),
)
_FLAGS = {"headers": "header", "masks": "mask"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """Options of the command line as they were given; None, empty or False: not given.

    Units are seconds, bytes, and requests per second.
    """

    urls: tuple[str, ...]
    concurrency: int | None = None
    duration: float | None = None
    requests: float | None = None
    rate: float | None = None
    poisson: bool = False
    seed: int | None = None
    warmup: float | None = None
    close: bool = False
    requests_per_connection: int | None = None
    silent: int | None = None
    idle: int | None = None
    timeout: float | None = None
    connect_timeout: float | None = None
    unix_socket: str | None = None
    insecure: bool = False
    cacert: Path | None = None
    tls: str | None = None
    method: str | None = None
    headers: tuple[str, ...] = ()
    host: str | None = None
    data: str | None = None
    chunked: float | None = None
    expect_continue: bool = False
    session: Path | None = None
    think: float | str | None = None
    cookies: bool = False
    nonce: Nonce | None = None
    expect_status: int | None = None
    expect_body: Path | None = None
    expect_text: str | None = None
    masks: tuple[str, ...] = ()
    max_body: float | None = None
    threads: int | None = None
    spin: bool = False
    no_ceiling: bool = False
    target_is_mine: bool = False

    def is_given(self, name: str) -> bool:
        """Return True if the option ``name`` is on the command line; a default does not count."""
        value = getattr(self, name)
        return value is not None and value is not False and value != ()

    def load(self, open_connections: int) -> Load:
        """Return the load level; ``open_connections`` is the default number of connections in an open loop."""
        fallback = _CLOSED_CONNECTIONS if self.rate is None else open_connections
        return Load(
            concurrency=self.concurrency or fallback,
            keep_alive=not self.close,
            duration_s=None if self.requests is not None else self.duration or _DURATION_S,
            requests=int(self.requests) if self.requests is not None else None,
            timeout_s=self.timeout or _TIMEOUT_S,
            rate_per_s=self.rate,
            poisson=self.poisson,
            seed=self.seed or 0,
            connect_timeout_s=self.connect_timeout,
            requests_per_connection=self.requests_per_connection,
            silent=self.silent or 0,
            idle=self.idle or 0,
        )


def refuse_contradictions(options: LoadOptions, *, has_stack: bool = False) -> None:
    """Raise InputError naming flags that exclude or need each other. With ``has_stack`` no URL is needed."""
    if not (options.urls or options.session or has_stack):
        raise InputError(
            "what is to be loaded? Give a URL, as in: stackrace load http://127.0.0.1:8000/, or a race file, "
            "--session or --stack"
        )
    for complaint in _complaints(options):
        raise InputError(complaint)


def _complaints(options: LoadOptions) -> Iterator[str]:
    for one, other, why in _EXCLUDES:
        if options.is_given(one) and options.is_given(other):
            yield f"give {flag(one)} or {flag(other)}, not both: {why}"
    for one, other in _NEEDS.items():
        if options.is_given(one) and not options.is_given(other):
            yield f"{flag(one)} needs {flag(other)}; add it, or leave {flag(one)} out"
    if options.requests is not None and options.requests < 1:
        yield "-n/--requests is less than one request; write it like 5000 or 10k"
    if options.rate is not None and options.rate > _MOST_RATE_PER_S:
        yield f"--rate is more than {RATE.format(_MOST_RATE_PER_S)}, which no load engine sends; lower it"
    if options.session is not None and len(options.urls) > 1:
        yield "--session plays against one server: give one URL, which names it, or none"
    if options.expect_body is not None and len(options.urls) > 1:
        yield "--expect-body describes one answer; give one URL with it"
    if (options.method or "").upper() == "HEAD":
        for name in ("expect_body", "expect_text"):
            if options.is_given(name):
                yield f"{flag(name)} with --method HEAD: answers to HEAD have no body; give one of them"
    if options.expect_text == "":
        yield "--expect-text is empty, and every body contains that; give a text, or leave it out"


def flag(name: str) -> str:
    """Return an option as it is spelt on the command line."""
    short = {"duration": "-d/", "requests": "-n/", "concurrency": "-c/", "headers": "-H/"}.get(name, "")
    return f"{short}--{_FLAGS.get(name, name).replace('_', '-')}"
