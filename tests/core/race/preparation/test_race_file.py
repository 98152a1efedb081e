"""A race file as a verb reads it; and what to write instead of a word that is none."""

from pathlib import Path

import pytest

from stackrace.base.errors import SpecError
from stackrace.race.preparation.race_file import read_request


@pytest.mark.parametrize(
    ("word", "right"),
    [
        ("tiny:app", "there is no race file tiny:app; did you mean --asgi tiny:app?"),
        ("huge:app", "did you mean --wsgi huge:app, or --asgi huge:app?"),
        ("tiny.py", "tiny.py is Python, not a race file; did you mean --asgi tiny:app?"),
        ("tiny.py:make()", "did you mean --wsgi 'tiny:make()', or --asgi 'tiny:make()'?"),
        ("notes.py", "notes.py is Python, not a race file; did you mean --wsgi 'notes:create_app()'?"),
        ("notes", "there is no race file notes; did you mean --wsgi 'notes:create_app()'?"),
        (
            "notes.py:create_app()",
            "there is no race file notes.py:create_app(); did you mean --wsgi 'notes:create_app()'?",
        ),
        ("notes.py:create_app('a b')", """did you mean --wsgi 'notes:create_app('"'"'a b'"'"')'?"""),
        ("web/fast.py", "did you mean --asgi web.fast:api?"),
        ("tool.py", "; no app was found in it: name yours as in --wsgi tool:app, or --asgi tool:app"),
        ("nowhere.py", "there is no race file nowhere.py; give an existing one"),
        ("gunicorn", "did you mean --stack gunicorn?"),
        ("127.0.0.1:8000", "to load a server that runs: stackrace load http://127.0.0.1:8000/"),
        ("http://localhost/", "to load a server that runs: stackrace load http://localhost"),
        ("race.tml", "did you mean race.toml?"),
        ("shop", "shop is a folder; did you mean --project shop?"),
        ("site", "site is a folder; did you mean site/race.toml?"),
        ("elsewhere.json", "give an existing one, or none for the defaults"),
    ],
)
def test_a_word_that_is_no_race_file_names_what_it_is(tmp_path, monkeypatch, word, right):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.py").write_text("async def app(scope, receive, send): pass\n")
    (tmp_path / "notes.py").write_text(
        "from flask import Flask\ndef create_app(mode=''):\n    return Flask(mode)\n"
    )
    (tmp_path / "tool.py").write_text("print('hello')\n")
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "__init__.py").touch()
    (tmp_path / "web" / "fast.py").write_text("from fastapi import FastAPI\napi = FastAPI()\n")
    (tmp_path / "shop").mkdir()
    (tmp_path / "site").mkdir()
    for folder in (tmp_path, tmp_path / "site"):
        (folder / "race.toml").write_text("")
    with pytest.raises(SpecError) as refused:
        read_request(Path(word))
    assert right in refused.value.message


def test_one_that_is_nested_too_deeply_is_refused_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "race.toml"
    path.write_text("[race]\nstacks = " + "[" * 100_000 + "]" * 100_000)
    with pytest.raises(SpecError, match=r"race\.toml is nested too deeply"):
        read_request(path)
