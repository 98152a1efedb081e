"""One JSON document about one run of the engine; ``stackrace load --schema`` prints what its members mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ..base.codec import FLAT, LEFT_OUT, Form, readable
from ..measure.engine.load_run import FinishedRun
from ..measure.load import Load, LoadResult, Quantiles, TargetResult
from .words.findings import LOAD, FindingDocument, finding_document


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSettings:
    """What was asked for."""

    loop: Literal["open", "closed"]
    """Whether requests fall due at a rate, or after the last answer."""
    load: Load
    seed: int | None
    """Of the random moments; null where there are none."""
    warmup_s: float
    """How long load was applied before the recorded window, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadDocument:
    """One run of the load engine, as `stackrace load --json` prints it.

    Times are seconds; what is not known is null.
    """

    schema: Literal["load-1"] = "load-1"
    """Name and version of this format."""
    urls: tuple[str, ...]
    """As given, or the recording's server."""
    load: LoadSettings
    """What was asked of the engine."""
    concurrency: int
    """Connections; as load.concurrency."""
    keep_alive: bool
    """Whether connections carried more than one request; as load.keep_alive."""
    throughput_per_s: float
    """Right answers per second."""
    result: LoadResult
    findings: tuple[FindingDocument, ...]
    """What the checks say about the run; none where there is nothing to doubt."""
    notes: tuple[str, ...]
    """What else is worth telling, one sentence each."""


_FORM = Form(
    names={
        Load: {"seed": LEFT_OUT},
        LoadSettings: {"load": FLAT},
        LoadDocument: {"result": FLAT},
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


def schema() -> str:
    """Return the JSON Schema of ``document``."""
    from ..base.json_schema import json_schema

    return json_schema(LoadDocument, _FORM, "load-1")


def document(ran: FinishedRun) -> dict[str, Any]:
    """Return the document of ``ran`` as plain JSON values."""
    return readable(_document(ran), _FORM)


def _document(ran: FinishedRun) -> LoadDocument:
    load, result = ran.load, ran.result
    return LoadDocument(
        urls=ran.target.urls,
        load=LoadSettings(
            loop="open" if load.is_open else "closed",
            load=load,
            seed=load.seed if load.poisson else None,
            warmup_s=ran.warmup_s,
        ),
        concurrency=load.concurrency,
        keep_alive=load.keep_alive,
        throughput_per_s=result.throughput_per_s,
        result=result,
        findings=tuple(finding_document(finding, LOAD) for finding in ran.verdict.findings),
        notes=ran.notes,
    )
