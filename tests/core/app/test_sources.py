"""The digest of an app follows its code, and nothing that merely lies about or is written while it runs."""

import os

import pytest
from tests.folders import write

from stackrace.app.app import App, Entry, EntryKind
from stackrace.app.revision import source_digest


@pytest.fixture
def app(tmp_path):
    site = write(tmp_path / "site", {"views.py": "answer = 42\n", "templates/page.html": "<p>{{ answer }}</p>"})
    return App(name="site", root=site, entry=Entry(kind=EntryKind.WSGI, target="views:app"))


def test_the_same_code_has_the_same_digest(app):
    assert source_digest(app) == source_digest(app)


@pytest.mark.parametrize("name", ["views.py", "templates/page.html"])
def test_code_that_changes_shows(app, name):
    before = source_digest(app)
    (app.root / name).write_text("changed")
    assert source_digest(app) != before


def test_code_that_is_added_renamed_or_removed_shows(app):
    before = source_digest(app)
    (app.root / "views.py").rename(app.root / "pages.py")
    renamed = source_digest(app)
    (app.root / "pages.py").unlink()
    assert len({before, renamed, source_digest(app)}) == 3


@pytest.mark.parametrize(
    "name", ["db.sqlite3", "log.txt", ".git/config.py", "__pycache__/views.py", "node_modules/a/b.py", "tmp/x.py"]
)
def test_what_is_no_code_of_the_app_does_not_matter(app, name):
    before = source_digest(app)
    write(app.root, {name: "whatever"})
    assert source_digest(app) == before


def test_a_virtual_environment_does_not_matter_whatever_its_name(app):
    before = source_digest(app)
    write(app.root, {"python/pyvenv.cfg": "home = /usr/bin", "python/lib/module.py": "1"})
    assert source_digest(app) == before


def test_of_plain_files_names_and_sizes_count(tmp_path):
    files = App(name="files", root=tmp_path, entry=Entry(kind=EntryKind.FILES, target="."))
    (tmp_path / "movie.mp4").write_bytes(b"12")
    (tmp_path / "dangling").symlink_to("nowhere")
    before = source_digest(files)
    (tmp_path / "movie.mp4").write_bytes(b"123")
    assert source_digest(files) != before


def test_recordings_count_wherever_they_lie(app, tmp_path):
    recording = tmp_path / "browse.har"
    without = source_digest(app)
    missing = source_digest(app, [recording])
    recording.write_text("{}")
    assert len({without, missing, source_digest(app, [recording])}) == 3


def test_what_has_no_end_is_not_read(app):
    os.mkfifo(app.root / "compose.yml")
    (app.root / "blob.html").symlink_to("/dev/zero")
    with (app.root / "data.yml").open("wb") as file:
        file.truncate(1 << 40)
    before = source_digest(app)
    (app.root / "views.py").write_text("changed")
    assert source_digest(app) != before
