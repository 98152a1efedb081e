"""The schemas that `--schema` prints: valid, every member described, and real documents fit them.

Documents of each kind are held against them where they are made; what is here holds for all.
"""

from __future__ import annotations

import json
from importlib import import_module

import jsonschema
import pytest

KINDS = {
    "race-2": "report.document",
    "load-1": "report.load_result",
    "check-1": "features.regression.kind",
    "tune-1": "features.tune.tuning_report",
    "trend-1": "features.trend.kind",
    "export-1": "features.export.export_files",
    "doctor-cluster-1": "features.doctor.doctor_report",
}


def printed(name):
    return json.loads(import_module(f"stackrace.{KINDS[name]}").schema())


@pytest.mark.parametrize("name", KINDS)
def test_a_schema_is_valid_and_names_its_version(name):
    schema = printed(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    what, _, version = name.rpartition("-")
    assert schema["$id"] == f"urn:stackrace:{what}:{version}"
    assert schema["description"]
    first = schema["properties"]
    assert first["schema"]["const"] == name if "schema" in first else first["version"]["const"] == int(version)


@pytest.mark.parametrize("name", KINDS)
def test_all_members_are_demanded_and_no_other_is_allowed(name):
    schema = printed(name)
    for shape in (schema, *schema["$defs"].values()):
        if shape.get("type") == "object":
            assert shape["additionalProperties"] is False
            assert shape["required"] == list(shape["properties"])


@pytest.mark.parametrize("name", KINDS)
def test_records_are_described(name):
    schema = printed(name)
    assert [title for title, shape in schema["$defs"].items() if not shape.get("description")] == []
