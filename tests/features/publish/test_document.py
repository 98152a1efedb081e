"""A race as a document: equal on every machine, small inside, and hostile ones are refused."""

from __future__ import annotations

import gzip
import hashlib
import json
from dataclasses import replace

import pytest
from tests.factories import make_race

from stackrace.base.errors import StoreError
from stackrace.features.publish import exchange as documents
from stackrace.features.publish.exchange import published, race_from
from stackrace.measure.launch import Failure, FailureKind

RACE = make_race()
SENT = published(RACE)


def hostile(**changes):
    return {**SENT.document, **changes}


def test_a_race_comes_back_equal_and_the_same_race_gives_the_same_document():
    back = race_from(json.loads(json.dumps(SENT.document)), SENT.packed)
    assert back == RACE
    assert published(back) == SENT


def test_slices_without_conditions_are_published_without():
    launch = RACE.launches[0]
    bare = tuple(replace(one, conditions=None) for one in launch.slices)
    race = replace(RACE, launches=(replace(launch, slices=bare),))
    sent = published(race)
    assert b"conditions" not in gzip.decompress(sent.packed)
    assert race_from(sent.document, sent.packed) == race


@pytest.mark.exhaustive
def test_the_document_stays_small_however_long_the_race():
    race = make_race(stacks=10, blocks=100)
    long = published(race)
    assert len(json.dumps(long.document)) < 1_000_000
    assert race_from(long.document, long.packed) == race


def test_a_change_in_any_slice_changes_the_document():
    launch = RACE.launches[0]
    one = replace(launch.slices[0], index=10_000)
    changed = replace(RACE, launches=(replace(launch, slices=(one, *launch.slices[1:])), *RACE.launches[1:]))
    assert published(changed).document != SENT.document


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ({}, "is no race"),
        (hostile(type="invoice"), "is no race"),
        (hostile(schema=documents._SCHEMA + 1), "newer Stackrace.*upgrade"),
        (hostile(schema=documents._SCHEMA - 1), "its schema is 1, not 2"),
        (hostile(schema=None), "its schema is None, not 2"),
        (hostile(race=5), "it is int, not dict"),
        (hostile(race={**SENT.document["race"], "app": 5}), "app is int, not str"),
        (hostile(race={**SENT.document["race"], "id": "0000000000000"}), "its id is not that of its document"),
        (hostile(race={**SENT.document["race"], "launches": []}), "not those of its attachment"),
        (hostile(race={**SENT.document["race"], "difference": "nan"}), "its difference is nan"),
        (hostile(launches_sha256="0" * 64), "not the one it was published with"),
    ],
)
def test_other_documents_are_refused(document, complaint):
    with pytest.raises(StoreError, match=complaint):
        race_from(document, SENT.packed)


@pytest.mark.parametrize(
    ("bulk", "complaint"),
    [
        (b"\n" * 1_000, "not those of its attachment"),
        (b"10\r" * 1_000, "not those of its attachment"),
        (b"{" + b",".join(b'"%x":0' % each for each in range(200_000)) + b"}\n", "a launch has more than"),
        (b"[" * 100_000 + b"\n", "recursion depth"),
    ],
    ids=["empty lines", "other line ends", "members", "a nest without end"],
)
def test_an_attachment_that_takes_much_memory_is_refused_before_it_does(bulk, complaint):
    one = published(replace(RACE, launches=RACE.launches[:1]))
    document = {**one.document, "launches_sha256": hashlib.sha256(bulk).hexdigest()}
    with pytest.raises(StoreError, match=complaint):
        race_from(document, gzip.compress(bulk))


def test_an_id_that_is_none_is_refused():
    wrong = published(replace(RACE, id="../../etc/passwd"))
    with pytest.raises(StoreError, match="is no id"):
        race_from(wrong.document, wrong.packed)


@pytest.mark.parametrize(
    ("packed", "complaint"),
    [
        (b"", "cut off"),
        (b"no gzip", "is damaged"),
        (SENT.packed[:-9], "cut off"),
        (gzip.compress(b"x", mtime=0), "not the one"),
    ],
)
def test_a_damaged_attachment_is_refused(packed, complaint):
    with pytest.raises(StoreError, match=complaint):
        race_from(SENT.document, packed)


def test_measurements_of_very_many_values_are_refused(monkeypatch):
    monkeypatch.setattr(documents, "_MOST_VALUES", 10)
    with pytest.raises(StoreError, match="more than 10 values"):
        race_from(SENT.document, SENT.packed)


def test_neither_part_tells_where_files_of_this_machine_lie():
    secret = "/home/ana/shop/secret.py"
    failed = replace(RACE.launches[0], failure=Failure(kind=FailureKind.DIED, message=secret))
    sent = published(replace(RACE, notes=(secret,), launches=(failed, *RACE.launches[1:])))
    assert "/home/ana" not in json.dumps(sent.document)
    assert b"/home/ana" not in gzip.decompress(sent.packed)
