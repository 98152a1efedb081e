"""Which app is raced, and what is said when there is none to be found."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackrace.apps import entry_of
from stackrace.deploy.environments import Environments
from stackrace.model.app import EntryKind
from stackrace.model.errors import InputError
from stackrace.model.stack import Interface
from stackrace.setup.examined import examined_app
from stackrace.setup.finding import offered_by
from stackrace.spec.request import RaceRequest


def load(folder, **asked):
    request = RaceRequest(folder=folder, **asked)
    return examined_app(request, Environments(folder / "cache", str), folder / "data", {}, str)


def test_plain_files_are_loaded_without_any_interpreter(tmp_path):
    (tmp_path / "public").mkdir()
    (tmp_path / "public" / "index.html").write_text("<p>home")
    loaded = load(tmp_path, entry=entry_of(EntryKind.FILES, "public/"))
    assert (loaded.app.root, loaded.app.entry.target) == (tmp_path / "public", ".")
    assert (loaded.app.python, loaded.app.ruby, loaded.interpreter, loaded.python_minor) == (None, None, None, None)
    assert loaded.workloads[0].answers[0].body == b"<p>home"
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"entry": entry_of(EntryKind.FILES, "public/")}, r"no folder .*/public; set \[app\] files"),
        ({"entry": entry_of(EntryKind.RACK, "config.ru")}, r"no .*/config.ru; set \[app\] rack"),
        (
            {"entry": entry_of(EntryKind.RACK, "here.ru"), "ruby": Path("no/ruby")},
            r"not an interpreter \(\[app\] ruby\)",
        ),
    ],
)
def test_what_is_not_there_names_its_key(tmp_path, asked, words):
    (tmp_path / "here.ru").touch()
    with pytest.raises(InputError, match=words):
        load(tmp_path, **asked)


@pytest.mark.parametrize(
    ("asked", "offered"),
    [
        ({}, {Interface.RACK}),
        ({"bundled": "django"}, {Interface.WSGI, Interface.ASGI}),
        ({"entry": entry_of(EntryKind.FILES, "public/")}, {Interface.FILES}),
    ],
)
def test_what_the_app_offers_is_known_before_anything_starts(tmp_path, asked, offered):
    (tmp_path / "config.ru").touch()
    assert offered_by(RaceRequest(folder=tmp_path, **asked)) == offered
    if not asked:
        (tmp_path / "config.ru").unlink()
        assert offered_by(RaceRequest(folder=tmp_path)) == {Interface.WSGI, Interface.ASGI}


def test_a_root_that_is_not_there_names_its_key(tmp_path):
    for kind, target in ((EntryKind.FILES, "."), (EntryKind.RACK, "config.ru"), (EntryKind.WSGI, "a:b")):
        with pytest.raises(InputError, match=r"does not exist; set \[app\] root"):
            load(tmp_path / "nowhere", entry=entry_of(kind, target))
