"""A run of the engine read back from the document that ``stackrace load --json`` printed.

Errors name the file and the key.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from stackrace.base.errors import InputError
from stackrace.base.files import read_bytes
from stackrace.measure.load import Quantiles

from .histogram import Bucket, distribution

__all__ = ["Saved", "read_saved"]

Item = TypeVar("Item")

_MOST_BYTES = 64 << 20
"""A saved result holds all latencies of a load."""


def _read_object(path: Path, way_out: str) -> _JsonObject:
    """Return the object in the JSON file at ``path``; ``way_out`` ends each message about what is wrong in it."""
    try:
        content = json.loads(read_bytes(path, _MOST_BYTES))
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); {way_out}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON ({error}); {way_out}") from error
    if not isinstance(content, dict):
        raise InputError(f"{path} is not a JSON object; {way_out}")
    return _JsonObject(content, path, way_out)


class _JsonObject:
    """One JSON object, read key by key. An InputError names the file, the whole key and the way out."""

    def __init__(self, content: dict[str, object], path: Path, way_out: str, place: str = "") -> None:
        self.content = content
        self._path = path
        self._way_out = way_out
        self._place = place

    def wrong(self, key: str, what: str) -> InputError:
        """Return the error to raise: ``what`` is wrong with ``key``."""
        return InputError(f"{self._path}: {self._place}{key} {what}; {self._way_out}")

    def number(self, key: str) -> float:
        """Return a number that is finite and not negative."""
        value = self._get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf:
            try:
                return float(value)
            except OverflowError:
                pass
        raise self.wrong(key, "is not a number of zero or more")

    def whole(self, key: str) -> int:
        """Return a whole number that is not negative."""
        value = self._get(key)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
            raise self.wrong(key, "is not a whole number of zero or more")
        return value

    def text(self, key: str) -> str:
        """Return a text."""
        value = self._get(key)
        if not isinstance(value, str):
            raise self.wrong(key, "is not text")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts."""
        return tuple(self._list(key, str, "texts"))

    def member(self, key: str) -> _JsonObject:
        """Return an object within this one."""
        value = self._get(key)
        if not isinstance(value, dict):
            raise self.wrong(key, "is no object")
        return self._inner(value, f"{key}.")

    def members(self, key: str) -> list[_JsonObject]:
        """Return a list of objects."""
        items = self._list(key, dict, "objects")
        return [self._inner(item, f"{key}[{index}].") for index, item in enumerate(items)]

    def _inner(self, content: dict[str, object], place: str) -> _JsonObject:
        return _JsonObject(content, self._path, self._way_out, self._place + place)

    def _list(self, key: str, kind: type[Item], what: str) -> list[Item]:
        value = self._get(key)
        if not isinstance(value, list) or not all(isinstance(item, kind) for item in value):
            raise self.wrong(key, f"is no list of {what}")
        return value

    def _get(self, key: str) -> object:
        if key not in self.content:
            raise self.wrong(key, "is missing")
        return self.content[key]


_VERSION = "load-1"
"""The format that is read, by its name."""
_WAY_OUT = "give a file that `stackrace load --json` wrote"


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """What a comparison needs of a run."""

    path: Path
    """The file it was read from."""
    urls: tuple[str, ...]
    load: Mapping[str, object]
    """What was asked for, as the document has it."""
    duration_s: float
    throughput_per_s: float
    """Right answers per second."""
    ok: int
    """Right answers."""
    errors: int
    """Requests answered wrongly, or not at all."""
    answered: int
    """Requests answered, rightly or wrongly."""
    latency: Quantiles
    """Seconds."""
    cpu_s: float
    """CPU time of the engine in seconds, without the time in which it only spun."""
    rates_per_s: tuple[float, ...]
    """Right answers per second in each full bin of 100 ms."""
    buckets: tuple[Bucket, ...]
    """The distribution of latencies."""


def read_saved(path: Path) -> Saved:
    """Return the run kept in ``path``.

    InputError: the file cannot be read, is no JSON, or no such document; it names the file and the key.
    """
    run = _read_object(path, _WAY_OUT)
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
    """The last bin is left out when the run ended within it: it would look slow."""
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
