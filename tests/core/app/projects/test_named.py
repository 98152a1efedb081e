"""An app that is named by its file, or by half of its name."""

import pytest

from stackrace.app.app import EntryKind
from stackrace.app.projects.detection import entry_named
from stackrace.base.errors import InputError

SITE = "from flask import Flask\nsite = Flask(__name__)\n"
FACTORY = "from flask import Flask\ndef create_app():\n    return Flask(__name__)\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "app.py").write_text(SITE)
    (tmp_path / "notes.py").write_text(FACTORY)
    (tmp_path / "fast.py").write_text("from fastapi import FastAPI\napi = FastAPI()\n")
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "shop.py").write_text(SITE)
    return tmp_path


@pytest.mark.parametrize(
    ("word", "right"),
    [
        (
            "app.py",
            '"app.py" does not name a callable; write it like --wsgi app:site, or in a race file wsgi = "app:site"',
        ),
        ("app", "write it like --wsgi app:site"),
        ("app:", "write it like --wsgi app:site"),
        ("./app.py:site", "write it like --wsgi app:site"),
        ("notes.py", """--wsgi 'notes:create_app()', or in a race file wsgi = "notes:create_app()\""""),
        ("notes.py:create_app()", "write it like --wsgi 'notes:create_app()'"),
        ("fast.py", 'write it like --asgi fast:api, or in a race file asgi = "fast:api"'),
        (
            "inner/shop.py",
            '--project inner --wsgi shop:site, or in a race file root = "inner" and wsgi = "shop:site"',
        ),
        ("empty.py", "write it like --wsgi empty:app"),
        ("nowhere.py:make()", "write it like --wsgi 'nowhere:make()'"),
    ],
)
def test_a_file_gets_the_name_of_the_app_in_it(folder, word, right):
    with pytest.raises(InputError) as refused:
        entry_named(EntryKind.WSGI, word, folder)
    assert right in refused.value.message


def test_a_right_name_is_not_looked_up(folder):
    assert entry_named(EntryKind.WSGI, "elsewhere:app", folder).target == "elsewhere:app"
