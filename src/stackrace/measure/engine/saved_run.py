"""Results of the engine that ``stackrace load --json`` printed, read back and compared.

Errors name the file and the key.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

from stackrace.base.errors import InputError
from stackrace.base.files import read_bytes
from stackrace.measure.load import Quantiles

from .histogram import Bucket, distribution

_MOST_BYTES = 64 << 20
"""Largest file that is read; a saved result holds all latencies of a load."""
_VERSION = "load-1"
_WAY_OUT = "give a file that `stackrace load --json` wrote"


def _read_object(path: Path) -> _JsonObject:
    try:
        content = json.loads(read_bytes(path, _MOST_BYTES))
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); {_WAY_OUT}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON ({error}); {_WAY_OUT}") from error
    if not isinstance(content, dict):
        raise InputError(f"{path} is not a JSON object; {_WAY_OUT}")
    return _JsonObject(content, path)


class _JsonObject:
    """JSON object, read key by key. An InputError names the file, the whole key and the way out.

    Each method returns a value of the kind in its name.
    """

    def __init__(self, content: dict[str, object], path: Path, key_prefix: str = "") -> None:
        self.content = content
        self._path = path
        self._place = key_prefix

    def wrong(self, key: str, what: str) -> InputError:
        """Return the error to raise: ``what`` is wrong with ``key``."""
        return InputError(f"{self._path}: {self._place}{key} {what}; {_WAY_OUT}")

    def number(self, key: str) -> float:
        """Return a number that is finite and not negative."""
        return float(self._get(key, _is_number, "is not a number of zero or more"))

    def whole(self, key: str) -> int:
        """Return a whole number that is not negative."""
        value: int = self._get(key, _is_whole, "is not a whole number of zero or more")
        return value

    def text(self, key: str) -> str:
        value: str = self._get(key, lambda value: isinstance(value, str), "is not text")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        return tuple(self._get(key, partial(_is_list, kind=str), "is no list of texts"))

    def member(self, key: str) -> _JsonObject:
        value = self._get(key, lambda value: isinstance(value, dict), "is no object")
        return _JsonObject(value, self._path, f"{self._place}{key}.")

    def members(self, key: str) -> list[_JsonObject]:
        items = self._get(key, partial(_is_list, kind=dict), "is no list of objects")
        places = (f"{self._place}{key}[{index}]." for index in range(len(items)))
        return [_JsonObject(item, self._path, place) for item, place in zip(items, places, strict=True)]

    def _get(self, key: str, fits: Callable[[Any], bool], what: str) -> Any:
        if key not in self.content:
            raise self.wrong(key, "is missing")
        if not fits(self.content[key]):
            raise self.wrong(key, what)
        return self.content[key]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= sys.float_info.max


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _is_list(value: object, kind: type) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """Values of a run that a comparison needs."""

    path: Path
    """File that the run was read from."""
    urls: tuple[str, ...]
    load: Mapping[str, object]
    """Load options as the document has them."""
    duration_s: float
    throughput_per_s: float
    """Right answers per second."""
    ok: int
    """Right answers."""
    errors: int
    """Requests answered wrongly or not at all."""
    answered: int
    """Requests answered, rightly or wrongly."""
    latency: Quantiles
    """Latencies in seconds."""
    cpu_s: float
    """CPU seconds of the engine, without the time in which it only spun."""
    rates_per_s: tuple[float, ...]
    """Right answers per second in each full bin of 100 ms."""
    buckets: tuple[Bucket, ...]
    """Distribution of latencies."""


def read_saved(path: Path) -> Saved:
    """Return the run saved in ``path``.

    InputError: the file cannot be read, is no JSON, or no such document; it names the file and the key.
    """
    run = _read_object(path)
    if run.content.get("schema") != _VERSION:
        raise run.wrong("schema", f'is not "{_VERSION}"')
    failed = run.member("failed")
    non2xx, wrong_bodies = run.whole("non2xx"), failed.whole("body") if "body" in failed.content else 0
    return Saved(
        path=path,
        urls=run.texts("urls"),
        load=run.member("load").content,
        duration_s=run.number("duration_s"),
        throughput_per_s=run.number("throughput_per_s"),
        ok=run.whole("ok"),
        errors=non2xx + sum(failed.whole(stage) for stage in failed.content) + run.whole("timed_out"),
        answered=run.whole("ok") + non2xx + wrong_bodies,
        latency=_quantiles(run.member("latency")),
        cpu_s=max(run.number("cpu_s") - run.number("spin_s"), 0.0),
        rates_per_s=_rates(run),
        buckets=_buckets(run),
    )


def _quantiles(latency: _JsonObject) -> Quantiles:
    return Quantiles(
        count=latency.whole("count"),
        mean=latency.number("mean"),
        p50=latency.number("p50"),
        p90=latency.number("p90"),
        p99=latency.number("p99"),
        p999=latency.number("p99.9"),
        max=latency.number("max"),
        censored=frozenset(name.replace("p99.9", "p999") for name in latency.texts("censored")),
    )


def _rates(run: _JsonObject) -> tuple[float, ...]:
    """Return the rate of each full bin. The last bin is left out if the run ended within it: it would look slow."""
    bins = run.members("series")
    starts, counts = [bin_.number("start_s") for bin_ in bins], [bin_.whole("ok") for bin_ in bins]
    if len(starts) < 2:
        return ()
    width_s = (starts[-1] - starts[0]) / (len(starts) - 1)
    if width_s <= 0:
        raise run.wrong("series", "does not ascend in start_s")
    if starts[-1] + width_s > run.number("duration_s") * (1 + 1e-9):
        counts.pop()
    return tuple(count / width_s for count in counts)


def _buckets(run: _JsonObject) -> tuple[Bucket, ...]:
    try:
        return distribution(base64.b64decode(run.text("histogram"), validate=True))
    except (ValueError, InputError) as error:
        raise run.wrong("histogram", f"is no histogram ({error})") from error


class Kind(StrEnum):
    """Kind of a figure, which decides how it is written."""

    RATE = "rate"
    DURATION = "duration"
    COUNT = "count"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One figure before and after."""

    name: str
    """Name of the figure in documents."""
    kind: Kind
    before: float | None
    """Value per second, in seconds or as a number, depending on ``kind``; None if unknown."""
    after: float | None
    before_bound: bool = False
    """True if ``before`` is only a lower bound ("≥")."""
    after_bound: bool = False

    @property
    def ratio(self) -> float | None:
        """After ÷ before; None if it cannot be divided, or both are only bounds."""
        if (
            self.before is None
            or self.after is None
            or self.before <= 0
            or (self.before_bound and self.after_bound)
        ):
            return None
        return self.after / self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Setting of the load that was not the same in both runs."""

    what: str
    """Name of the setting in documents."""
    before: object
    after: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All figures of two runs, and the differences between their loads."""

    lines: tuple[Line, ...]
    differences: tuple[Difference, ...]


def compare(before: Saved, after: Saved) -> Comparison:
    """Return the comparison of ``after`` with ``before``."""
    return Comparison(lines=tuple(_lines(before, after)), differences=tuple(_differences(before, after)))


def _lines(before: Saved, after: Saved) -> Iterator[Line]:
    yield Line(name="throughput", kind=Kind.RATE, before=before.throughput_per_s, after=after.throughput_per_s)
    for field, name in {
        "mean": "mean", "p50": "p50", "p90": "p90", "p99": "p99", "p999": "p99.9", "max": "max",
    }.items():  # fmt: skip
        yield Line(
            name=name,
            kind=Kind.DURATION,
            before=_latency(before, field),
            after=_latency(after, field),
            before_bound=field in before.latency.censored,
            after_bound=field in after.latency.censored,
        )
    yield Line(name="cpu_s_per_request", kind=Kind.DURATION, before=_cpu(before), after=_cpu(after))
    yield Line(name="errors", kind=Kind.COUNT, before=before.errors, after=after.errors)


def _latency(saved: Saved, field: str) -> float | None:
    value: float = getattr(saved.latency, field)
    return value if saved.latency.count else None


def _cpu(saved: Saved) -> float | None:
    return saved.cpu_s / saved.answered if saved.answered else None


def _differences(before: Saved, after: Saved) -> Iterator[Difference]:
    if before.urls != after.urls:
        yield Difference(what="urls", before=list(before.urls), after=list(after.urls))
    for key in dict.fromkeys((*before.load, *after.load)):
        if before.load.get(key) != after.load.get(key):
            yield Difference(what=key, before=before.load.get(key), after=after.load.get(key))
