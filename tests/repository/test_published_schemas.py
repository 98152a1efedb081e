"""The schemas that `--schema` prints: valid, every member described, and real documents fit them.

Documents of each kind are held against them where they are made; what is here holds for all.
"""

from __future__ import annotations

import json
import tomllib
from importlib import import_module
from pathlib import Path

import jsonschema
import pytest
from pydantic import ValidationError

from stackrace.features import comparisons
from stackrace.race.request.tables import RaceFileTable

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


RACE_FILE = json.loads(import_module("stackrace.race.request.race_file_schema").schema())


_PUBLISHED = Path(comparisons.__file__).parent
_FILES = [*Path(__file__).parents[2].glob("examples/*/race.toml"), *_PUBLISHED.glob("*/*.toml")]


@pytest.mark.parametrize(
    "file",
    [file for file in _FILES if file.name != "comparison.toml"],
    ids=lambda file: "/".join(file.parts[-2:]),
)
def test_race_files_fit_their_schema(file):
    jsonschema.validate(tomllib.loads(file.read_text(encoding="utf-8")), RACE_FILE)


@pytest.mark.parametrize(
    "table",
    [
        {"race": {"budgett": "3min"}}, {"race": {"question": "first"}}, {"load": {"concurrency": [0]}},
        {"app": {"wsgi": 3}}, {"race": {"cores": 2}}, {"load": {"requests": "many"}},
    ],
    ids=str,
)  # fmt: skip
def test_the_schema_of_race_files_refuses_what_they_refuse(table):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(table, RACE_FILE)
    with pytest.raises(ValidationError):
        RaceFileTable.model_validate(table)


def test_the_schema_of_race_files_takes_each_way_to_write_a_value():
    ways = {
        "app": {"prepare": ["a b", {"run": "a | b", "shell": True}], "env_file": ".env", "protect": ["/srv"]},
        "workload": {"check": {"/news/": "length", "*": {"contains": "x"}}},
        "load": {"requests": {"20": 1000}, "concurrency": [1, 20], "timeout": 3},
        "race": {"budget": "20min", "memory": "512MiB", "cores": "0-3", "difference": "5%", "current": False},
    }
    jsonschema.validate(ways, RACE_FILE)
    RaceFileTable.model_validate(ways)


def test_the_schema_of_race_files_describes_its_keys():
    tables = RACE_FILE["$defs"]
    assert "time for the whole race" in tables["RaceTable"]["properties"]["budget"]["description"].lower()
    assert "send nothing" in tables["_LoadTable"]["properties"]["silent"]["description"]
