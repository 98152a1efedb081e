"""Documents that version 0.1.0 wrote are still read; the store it wrote has ``store/test_store_written.py``."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from types import SimpleNamespace

import jsonschema
from tests.written import LOAD, PUBLISHED, RACE_DOCUMENT, RACES

from stackrace import report
from stackrace.base.codec import decode, encode
from stackrace.features.publish.document import ATTACHMENT, SCHEMA, TYPE, published, race_from
from stackrace.features.publish.exchange import publish
from stackrace.measure.engine.comparison import compare
from stackrace.measure.engine.saved import read_saved
from stackrace.race.results.race import Race

DOCUMENT = json.loads(PUBLISHED.read_text(encoding="utf-8"))
RACE = json.loads(gzip.decompress(RACES.read_bytes()))["races"][DOCUMENT["_id"]]


def test_a_published_race_comes_back_and_is_published_the_same():
    packed = base64.b64decode(DOCUMENT["_attachments"][ATTACHMENT]["data"])
    race = race_from(DOCUMENT, packed)
    # as it was published before paths were left out
    again = published(race, discreet=False)
    assert race.seed == int(RACE["seed"])
    assert len(race.launches) == len(RACE["launches"])
    # its failures' kinds were words, which are codes now
    former = {
        "_id": DOCUMENT["_id"],
        "type": TYPE,
        "schema": SCHEMA,
        "race": encode(decode(Race, DOCUMENT["race"])),
    }
    assert again.document == {**former, "launches_sha256": again.document["launches_sha256"]}
    there = SimpleNamespace(get=lambda _: DOCUMENT, attachment=lambda *_: packed, address="here")
    assert publish(race, there) is False


def test_a_saved_load_is_compared():
    saved = read_saved(LOAD)
    assert (saved.ok, saved.errors, saved.answered) == (90, 31, 99)
    assert sum(bucket.count for bucket in saved.buckets) == 100
    lines = {line.name: line for line in compare(saved, saved).lines}
    assert lines["errors"].before == lines["errors"].after == 31


def test_a_race_document_of_version_1_fits_its_published_schema():
    document = json.loads(gzip.decompress(RACE_DOCUMENT.read_bytes()))
    schema = Path(report.__file__).parent / "schema" / "race-1.schema.json"
    jsonschema.validate(document, json.loads(schema.read_text(encoding="utf-8")))
