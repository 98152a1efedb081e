"""One document a row instead of a column for each value; the columns that stay are those that are asked for.

What is moved has the shape of the columns' time: nothing here follows the model, which may have changed since.
Failures get codes, so that triggers compare no sentence. While the triggers are out, no row is altered.
"""

# mypy: allow-untyped-calls
# (Django carries no annotations)

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import django.db.models.deletion
from django.db import migrations, models

from stackrace.base.text import storable
from stackrace.store.fields import DocumentField
from stackrace.store.triggers import arm, disarm

_RACE = ("version", "urls", "stacks", "loads", "question", "difference", "cores", "seed", "host", "notes",
         "workloads", "repeats", "limits", "exhaustive", "rule")  # fmt: skip
_FACTS = ("stack", "versions", "configs", "commands")
_LAUNCH = ("ready_s", "warmup_s", "memory", "failure_message", "failure_log", "findings")
_SLICE = ("index", "load", "usage", "workload", "conditions")
_RESULT = (
    "started_at", "duration_s", "counts", "latency", "connect", "histogram", "series", "status_classes",
    "bytes_read", "connections_opened", "reconnects", "established_peak", "generator_cpu_s", "generator_wait_s",
    "generator_busy", "fairness", "dead_time", "service", "lag", "tls", "pages", "targets", "ceiling_per_s",
    "generator_spin_s", "pool_waits", "retried", "nonces_lost", "stale_dates", "cached_answers", "surplus_bytes",
    "ports_exhausted", "files_exhausted", "arrivals_distance",
)  # fmt: skip

_CODES = {
    "did not start": "not_started",
    "never became ready": "not_ready",
    "gave a wrong answer": "wrong_answer",
    "died under load": "died",
    "ignored the request to stop": "not_stopped",
    "gave no believable measurement": "refused",
    "was cut short with its race": "interrupted",
}
_BATCH = 200
"""Rows held in memory at once."""


def _plain(value: Any) -> Any:
    """Return a value of an earlier row as the codec writes it: escaped text, no NaN, bytes in base64."""
    match value:
        case str():
            return storable(value)
        case float() if not math.isfinite(value):
            return str(value)
        case bytes() | memoryview():
            return base64.b64encode(bytes(value)).decode("ascii")
        case dict():
            return {storable(key): _plain(each) for key, each in value.items()}
        case list():
            return [_plain(each) for each in value]
    return value


def _taken(row: Any, names: Iterable[str]) -> dict[str, Any]:
    """Return the columns ``names`` that ``row`` has; NULL means that its version did not know them."""
    values = ((name, getattr(row, name)) for name in names)
    return {name: _plain(value) for name, value in values if value is not None}


def _findings(found: Any) -> dict[str, Any]:
    return {"verdict": {"findings": _plain(found)}} if found else {}


def _launch(row: Any) -> dict[str, Any]:
    """Return the document of a launch; that of one that has not ended is empty."""
    document = {**_taken(row, ("ready_s", "memory")), **_findings(row.findings)}
    if row.failure_kind is not None:
        kind = _CODES.get(row.failure_kind, row.failure_kind)
        failure = {"kind": kind, "message": row.failure_message or "", "log": row.failure_log or ""}
        document["failure"] = _plain(failure)
    if row.warmup_s != 0:
        document["warmup_s"] = _plain(row.warmup_s)
    return {name: value for name, value in document.items() if value != []}


def _slice(row: Any) -> dict[str, Any]:
    return {**_taken(row, _SLICE), "result": _taken(row, _RESULT), **_findings(row.findings)}


def _move(apps: Any, editor: Any) -> None:
    def rows(name: str) -> Iterator[Any]:
        return iter(_model(apps, name).using(editor.connection.alias).order_by("pk").iterator(_BATCH))

    for row in rows("RaceRow"):
        row.document = _taken(row, _RACE)
        row.save(update_fields=["document"])
    for row in rows("StackFactsRow"):
        row.document = _taken(row, _FACTS)
        row.save(update_fields=["document"])
    for row in rows("LaunchRow"):
        row.document = _launch(row)
        row.failure_kind = _CODES.get(row.failure_kind, row.failure_kind)
        row.save(update_fields=["document", "failure_kind"])
    _move_slices(apps, editor, rows("SliceRow"))


def _move_slices(apps: Any, editor: Any, rows: Iterator[Any]) -> None:
    """Slices, which are most of a store, are copied once rather than once for each column that goes."""
    model = apps.get_model("stackrace", "SliceDocumentRow")
    moved = _model(apps, "SliceDocumentRow").using(editor.connection.alias)
    for row in rows:
        moved.create(id=row.id, launch_id=row.launch_id, document=_slice(row))
    if editor.connection.vendor == "postgresql":
        from django.core.management.color import no_style

        for statement in editor.connection.ops.sequence_reset_sql(no_style(), [model]):
            editor.execute(statement)
        # a table with checks to come cannot be renamed
        editor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def _model(apps: Any, name: str) -> Any:
    return apps.get_model("stackrace", name).objects


class Migration(migrations.Migration):
    """There is no way back: an earlier version cannot read what a later one writes into a document."""

    dependencies: ClassVar[list[tuple[str, str]]] = [("stackrace", "0010_duty")]

    operations: ClassVar[list[object]] = [
        disarm(),
        migrations.AddField("racerow", "document", DocumentField(default=dict), preserve_default=False),
        migrations.AddField("stackfactsrow", "document", DocumentField(default=dict), preserve_default=False),
        migrations.AddField("launchrow", "document", DocumentField(default=dict), preserve_default=False),
        migrations.CreateModel(
            name="SliceDocumentRow",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("document", DocumentField()),
                (
                    "launch",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="slices", to="stackrace.launchrow"
                    ),
                ),
            ],
            options={"db_table": "stackrace_slice_document"},
        ),
        migrations.RunPython(_move),
        *(migrations.RemoveField("racerow", name) for name in _RACE),
        *(migrations.RemoveField("stackfactsrow", name) for name in _FACTS),
        *(migrations.RemoveField("launchrow", name) for name in _LAUNCH),
        migrations.DeleteModel("SliceRow"),
        migrations.RenameModel("SliceDocumentRow", "SliceRow"),
        migrations.AlterModelTable("slicerow", "stackrace_slice"),
        arm(),
    ]
