"""A run of the engine read back from the document that ``stackrace load --json`` printed."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stackrace.model.errors import InputError
from stackrace.model.load import Quantiles

from .document import VERSION
from .histogram import Bucket, distribution

__all__ = ["Saved", "read_saved"]

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
    table = _Table(path, _content(path))
    if table.content.get("schema") != VERSION:
        raise table.wrong("schema", f'is not "{VERSION}"')
    failed = table.table("failed")
    non2xx, wrong_bodies = table.whole("non2xx"), failed.whole("body") if "body" in failed.content else 0
    return Saved(
        path=path,
        urls=table.texts("urls"),
        load=table.table("load").content,
        duration_s=table.number("duration_s"),
        throughput_per_s=table.number("throughput_per_s"),
        ok=table.whole("ok"),
        errors=non2xx + sum(failed.whole(stage) for stage in failed.content) + table.whole("timed_out"),
        answered=table.whole("ok") + non2xx + wrong_bodies,
        latency=_quantiles(table.table("latency")),
        cpu_s=max(table.number("cpu_s") - table.number("spin_s"), 0.0),
        rates_per_s=_rates(table),
        buckets=_buckets(table),
    )


def _content(path: Path) -> dict[str, object]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); {_WAY_OUT}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON ({error}); {_WAY_OUT}") from error
    if not isinstance(content, dict):
        raise InputError(f"{path} is not a JSON object; {_WAY_OUT}")
    return content


def _quantiles(table: _Table) -> Quantiles:
    return Quantiles(
        count=table.whole("count"),
        mean=table.number("mean"),
        p50=table.number("p50"),
        p90=table.number("p90"),
        p99=table.number("p99"),
        p999=table.number("p99.9"),
        max=table.number("max"),
        censored=frozenset(name.replace("p99.9", "p999") for name in table.texts("censored")),
    )


def _rates(table: _Table) -> tuple[float, ...]:
    """The last bin is left out when the run ended within it: it would look slow."""
    bins = table.tables("series")
    starts, counts = [bin_.number("start_s") for bin_ in bins], [bin_.whole("ok") for bin_ in bins]
    if len(starts) < 2:
        return ()
    width_s = (starts[-1] - starts[0]) / (len(starts) - 1)
    if width_s <= 0:
        raise table.wrong("series", "does not ascend in start_s")
    if starts[-1] + width_s > table.number("duration_s") * (1 + 1e-9):
        counts.pop()
    return tuple(count / width_s for count in counts)


def _buckets(table: _Table) -> tuple[Bucket, ...]:
    try:
        return distribution(base64.b64decode(table.text("histogram"), validate=True))
    except (ValueError, InputError) as error:
        raise table.wrong("histogram", f"is no histogram ({error})") from error


class _Table:
    """One JSON object, read key by key; whatever is wrong is said with the file and the whole key."""

    def __init__(self, path: Path, content: dict[str, object], place: str = "") -> None:
        self.content = content
        self._path = path
        self._place = place

    def wrong(self, key: str, what: str) -> InputError:
        return InputError(f"{self._path}: {self._place}{key} {what}; {_WAY_OUT}")

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
        value = self._get(key)
        if not isinstance(value, str):
            raise self.wrong(key, "is not text")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        return tuple(text for text in self._list(key, str, "texts") if isinstance(text, str))

    def table(self, key: str) -> _Table:
        value = self._get(key)
        if not isinstance(value, dict):
            raise self.wrong(key, "is no object")
        return _Table(self._path, value, f"{self._place}{key}.")

    def tables(self, key: str) -> list[_Table]:
        return [
            _Table(self._path, item, f"{self._place}{key}[{index}].")
            for index, item in enumerate(self._list(key, dict, "objects"))
            if isinstance(item, dict)
        ]

    def _list(self, key: str, kind: type, what: str) -> list[object]:
        value = self._get(key)
        if not isinstance(value, list) or not all(isinstance(item, kind) for item in value):
            raise self.wrong(key, f"is no list of {what}")
        return value

    def _get(self, key: str) -> object:
        if key not in self.content:
            raise self.wrong(key, "is missing")
        return self.content[key]
