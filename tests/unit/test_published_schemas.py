"""The published schemas say what the records hold: whoever adds a member writes them anew.

``STACKRACE_UPDATE_GOLDEN=1 python -m pytest tests/unit/test_published_schemas.py`` does.
"""

from __future__ import annotations

import json
import os

import pytest

from stackrace.base.codec.json_schema import derived
from stackrace.features.regression.report import document as gate
from stackrace.features.trend.report import json as trend
from stackrace.features.tune.report import document as tune
from stackrace.measure.engine import document as load
from stackrace.report import document_leaves as race
from stackrace.report.document import SCHEMA as RACE


@pytest.mark.parametrize(
    ("path", "records", "form"),
    [
        (load.SCHEMA, load.RECORDS, load.FORM),
        (RACE, race.RECORDS, race.FORM),
        (trend.SCHEMA, trend.RECORDS, trend.FORM),
        (gate.SCHEMA, gate.RECORDS, gate.FORM),
        (tune.SCHEMA, tune.RECORDS, tune.FORM),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_published_schema_is_what_its_records_are(path, records, form):
    text = path.read_text(encoding="utf-8")
    expected = json.dumps(derived(json.loads(text), records, form), indent=2, ensure_ascii=False) + "\n"
    if os.environ.get("STACKRACE_UPDATE_GOLDEN"):
        path.write_text(expected, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == expected
