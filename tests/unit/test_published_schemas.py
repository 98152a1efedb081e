"""The schemas that `--schema` prints: valid, every member described, and real documents fit them.

Documents of each kind are held against them where they are made; what is here holds for all.
"""

from __future__ import annotations

import json

import jsonschema
import pytest

from stackrace.features.doctor.cli import show_cluster
from stackrace.features.export import document as export
from stackrace.features.regression.report import document as check
from stackrace.features.trend.report import json as trend
from stackrace.features.tune.report import document as tune
from stackrace.report import document as race
from stackrace.report import load_document as load

KINDS = {"race-2": race, "load-1": load, "check-1": check, "tune-1": tune, "trend-1": trend, "export-1": export,
         "doctor-cluster-1": show_cluster}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_a_schema_is_valid_and_names_its_version(name):
    schema = json.loads(KINDS[name].schema())
    jsonschema.Draft202012Validator.check_schema(schema)
    what, _, version = name.rpartition("-")
    assert schema["$id"] == f"urn:stackrace:{what}:{version}"
    assert schema["description"]
    first = schema["properties"]
    assert first["schema"]["const"] == name if "schema" in first else first["version"]["const"] == int(version)


@pytest.mark.parametrize("name", KINDS)
def test_all_members_are_demanded_and_no_other_is_allowed(name):
    schema = json.loads(KINDS[name].schema())
    for shape in (schema, *schema["$defs"].values()):
        if shape.get("type") == "object":
            assert shape["additionalProperties"] is False
            assert shape["required"] == list(shape["properties"])


@pytest.mark.parametrize("name", KINDS)
def test_records_are_described(name):
    schema = json.loads(KINDS[name].schema())
    assert [title for title, shape in schema["$defs"].items() if not shape.get("description")] == []
