"""A run of the engine read back from the document that ``stackrace load --json`` printed."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stackrace.base.errors import InputError
from stackrace.measure.load import Quantiles

from .histogram import Bucket, distribution
from .json_object import JsonObject, read_object

__all__ = ["Saved", "read_saved"]

VERSION = "load-1"
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
    run = read_object(path, _WAY_OUT)
    if run.content.get("schema") != VERSION:
        raise run.wrong("schema", f'is not "{VERSION}"')
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


def _quantiles(latency: JsonObject) -> Quantiles:
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


def _rates(run: JsonObject) -> tuple[float, ...]:
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


def _buckets(run: JsonObject) -> tuple[Bucket, ...]:
    try:
        return distribution(base64.b64decode(run.text("histogram"), validate=True))
    except (ValueError, InputError) as error:
        raise run.wrong("histogram", f"is no histogram ({error})") from error
