"""One JSON document about one run of the engine; ``schema/load-1.schema.json`` is its contract.

Times are seconds. What is not known is null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from stackrace.base.codec import FLAT, LEFT_OUT, Form, readable
from stackrace.measure.load import Load, LoadResult, Quantiles, SeriesBin, TargetResult

__all__ = ["FORM", "RECORDS", "SCHEMA", "VERSION", "document"]

VERSION = "load-1"
SCHEMA = Path(__file__).parent / "schema" / "load-1.schema.json"
"""The published schema of this version."""

FORM = Form(
    names={
        Quantiles: {"p999": "p99.9"},
        TargetResult: {"counts": FLAT},
        LoadResult: {
            "started_at": LEFT_OUT,
            "counts": FLAT,
            "generator_cpu_s": "cpu_s",
            "generator_spin_s": "spin_s",
            "generator_wait_s": "wait_s",
            "generator_busy": "busiest_thread",
        },
    },
    in_sets={"p999": "p99.9"},
    finite=True,
)

RECORDS: dict[str, type] = {"": LoadResult, "distribution": Quantiles, "target": TargetResult, "bin": SeriesBin}
"""What the schema and its definitions are derived from."""


def document(
    urls: Sequence[str],
    load: Load,
    result: LoadResult,
    *,
    warmup_s: float = 0.0,
    findings: Sequence[Mapping[str, object]] = (),
    notes: Sequence[str] = (),
) -> dict[str, object]:
    """Return the document of a run of ``load`` against ``urls``, recorded after ``warmup_s`` seconds.

    ``findings`` are the documents of what the checks found, ``notes`` further sentences.
    """
    return {
        "schema": VERSION,
        "urls": list(urls),
        "load": _load(load, warmup_s),
        "concurrency": load.concurrency,
        "keep_alive": load.keep_alive,
        "throughput_per_s": result.throughput_per_s,
        **readable(result, FORM),
        "findings": list(findings),
        "notes": list(notes),
    }


def _load(load: Load, warmup_s: float) -> dict[str, object]:
    settings = {**readable(load, FORM), "seed": load.seed if load.poisson else None}
    return {"loop": "open" if load.is_open else "closed", **settings, "warmup_s": warmup_s}
