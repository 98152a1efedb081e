"""A request survives as JSON: every field, so that a race set up again is the same race."""

import json
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stackrace.api.resuming import request_document, request_from
from stackrace.app.app import Entry, EntryKind
from stackrace.base.errors import InputError
from stackrace.measure.workload import Likeness, RightAnswer
from stackrace.race.request.request import RaceRequest, WorkloadRequest
from stackrace.race.results.parts import Parts
from stackrace.stats.values import Question


def test_a_relative_folder_is_the_same_one_wherever_the_apps_processes_work():
    assert RaceRequest(folder=Path("shop")).folder == Path.cwd() / "shop"


TEXT = st.text(st.characters(), max_size=12)  # lone surrogates included, as in names of files that are no UTF-8
REAL = st.floats(allow_nan=False, allow_infinity=False)
COUNT = st.integers(0, 2**70)
PATH = st.text(st.characters(exclude_characters="\0/"), min_size=1, max_size=12).map(
    lambda name: Path("/srv") / name
)


def whole(kind, /, **strategies):
    """Build ``kind`` from all of its fields: a field that is added to it and forgotten here fails at once."""
    assert {field.name for field in fields(kind)} == set(strategies), kind
    return st.builds(kind, **strategies)


def few(values):
    return st.lists(values, max_size=3).map(tuple)


def mapping(keys, values):
    return st.dictionaries(keys, values, max_size=3)


CHECK = mapping(TEXT, whole(RightAnswer, likeness=st.sampled_from(Likeness), text=TEXT))
WORKLOAD = whole(
    WorkloadRequest, name=TEXT, urls=few(TEXT), session=st.none() | PATH, stacks=st.none() | few(TEXT),
    think=st.booleans(), check=CHECK,
)  # fmt: skip
REQUEST = whole(
    RaceRequest,
    folder=PATH, source=st.none() | PATH, python=st.none() | PATH, ruby=st.none() | PATH,
    entry=st.none() | whole(Entry, kind=st.sampled_from(EntryKind), target=TEXT),
    env_files=few(PATH),
    environment=mapping(TEXT, TEXT), static=st.none() | mapping(TEXT, PATH), prepare=few(few(TEXT)),
    services=few(TEXT), urls=st.none() | few(TEXT), host=st.none() | TEXT, headers=few(st.tuples(TEXT, TEXT)),
    concurrency=st.none() | few(COUNT), keep_alive=st.booleans(), timeout_s=REAL,
    silent=COUNT, idle=COUNT,
    question=st.sampled_from(Question), difference=REAL, budget_s=st.none() | REAL, slice_s=st.none() | REAL,
    seed=st.none() | st.integers(), stacks=st.none() | few(TEXT), bundled=st.none() | TEXT,
    servers=st.none() | PATH, session=st.none() | PATH, workloads=few(WORKLOAD), repeats=st.none() | COUNT,
    contestants=st.none() | st.booleans(),
    run_requests=st.none() | COUNT, run_requests_at=mapping(COUNT, COUNT), run_s=st.none() | REAL,
    exhaustive=st.booleans(), think=st.booleans(), twin=st.booleans(),
    memory_bytes=st.none() | COUNT, cores=st.none() | few(COUNT), engine_cores=st.none() | few(COUNT),
    parts=whole(Parts, held=mapping(TEXT.map("foreign {}".format), mapping(TEXT, TEXT))),
    new_pages=st.booleans(), give_up=st.booleans(),
    quota=st.booleans(), priority=st.booleans(), check=CHECK, most_copied_bytes=COUNT, protect=few(PATH),
)  # fmt: skip


NO_UTF_8 = RaceRequest(
    folder=Path("/srv/\udcff"),
    static={"\ud800": Path("/srv/\udcff")},
    environment={"\udcff": "\udcff"},
    check={"\ud800": RightAnswer(likeness=Likeness.STATUS)},
    workloads=(WorkloadRequest(name="", check={"\ud800": RightAnswer(likeness=Likeness.STATUS)}),),
)


@example(NO_UTF_8)
@given(REQUEST)
def test_a_request_comes_back_as_it_was(request):
    assert request_from(json.loads(json.dumps(request_document(request))), request.environment) == request


def test_secrets_are_read_again_where_they_come_from(tmp_path):
    environment = {"API_TOKEN": "canary-4711", "SHOP": "bakery"}
    asked = RaceRequest(folder=tmp_path, source=tmp_path / "race.toml", environment=environment)
    document = request_document(asked)
    assert "canary" not in json.dumps(document)
    assert request_from(document, {"API_TOKEN": "canary-4711"}) == asked
    with pytest.raises(InputError, match=r"API_TOKEN were not kept.*in \[app\] env of .*race\.toml"):
        request_from(document, {})
    (tmp_path / "race.toml").write_text('[app]\nwsgi = "a:b"\nenv = { API_TOKEN = "canary-4711" }\n')
    assert request_from(document, {}) == asked


def test_paths_become_absolute_and_links_stay(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "python").symlink_to("/usr/bin/env")
    asked = RaceRequest(
        folder=Path("site"), python=Path("python"), static={"/s/": Path("files")}, session=Path("a.har"),
        workloads=(WorkloadRequest(name="b", session=Path("b.har")),), servers=Path("own"),
    )  # fmt: skip
    back = request_from(request_document(asked))
    assert back == replace(
        asked, folder=tmp_path / "site", python=tmp_path / "python", static={"/s/": tmp_path / "files"},
        session=tmp_path / "a.har", servers=tmp_path / "own",
        workloads=(replace(asked.workloads[0], session=tmp_path / "b.har"),),
    )  # fmt: skip


@pytest.mark.parametrize(
    "document", [{}, [], None, {"folder": "/", "from_a_later_version": 1}, {"folder": "/", "seed": "x"}]
)
def test_what_is_no_request_of_ours_is_refused(document):
    with pytest.raises(ValueError, match="RaceRequest"):
        request_from(document)
