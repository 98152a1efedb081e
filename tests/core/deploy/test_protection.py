"""What is said of the user's data: what was copied, what may change, and what nobody copies."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unprotected import data_paths

from stackrace.app.app import App, EntryKind, entry_of
from stackrace.app.data_paths import DataPaths
from stackrace.base.errors import InputError, LaunchError
from stackrace.base.files import MOST_COPIED_BYTES
from stackrace.base.process.view import ProtectedView
from stackrace.deploy import protection
from stackrace.deploy.preparing import Preparing, Step
from stackrace.deploy.protection import ProtectedProject


class Elsewhere(ProtectedView):
    """A view of nothing but the copies that are brought into it."""

    def path(self, path):
        copy = Path(f"{self.folder}{path}")
        copy.parent.mkdir(parents=True, exist_ok=True)
        return copy


class Covering:
    """In place of a guard: covers nothing, and keeps what it was asked to cover."""

    def __init__(self, directory, refused="", only=None):
        self.directory = directory
        self.refused = refused
        self.only = only
        self.view = Elsewhere()
        self.afterwards = ExitStack()
        object.__setattr__(self.view, "folder", directory / "view")
        self.covered = []

    def cover(self, folders, kept=()):
        if self.refused and self.only in (None, *folders):
            raise LaunchError(self.refused)
        self.covered += folders


@pytest.fixture(autouse=True)
def no_surroundings(monkeypatch):
    """Leave the user's home and shared folders out: these projects lie in one."""
    for module in ("protection", "project_copy"):
        monkeypatch.setattr(f"stackrace.deploy.{module}.surroundings", lambda **_: ())


def project(folder, **variables):
    folder.mkdir(exist_ok=True)
    with closing(sqlite3.connect(folder / "data.db")) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS visit (at)")
    entry = entry_of(EntryKind.WSGI, "site:app")
    return App(name="site", root=folder, entry=entry, python=Path(sys.executable), environment=variables)


def protect(app, folder, guard, beside, heard, most_bytes=MOST_COPIED_BYTES, also=()):
    return ProtectedProject(app.root, folder, guard, heard, most_bytes, also).protect(app, beside)


def protected(app, guard, beside=(), heard=lambda what: None, most_bytes=10**6):
    protection = protect(app, app.root, guard, dict(beside), heard, most_bytes)
    return (*protection.notes, *protection.warnings)


def test_the_project_is_covered_and_its_databases_are_named_with_their_size(tmp_path):
    app, guard, heard = project(tmp_path / "site"), Covering(tmp_path), []
    (note,) = protected(app, guard, heard=heard.append)
    assert guard.covered == [app.root]
    assert heard == [Preparing(step=Step.DATABASE, subject="data.db (8 KiB)")]
    assert note.startswith("The app wrote to a copy of data.db (8 KiB), made in ")


def test_a_database_elsewhere_has_its_folder_covered(tmp_path):
    elsewhere = project(tmp_path / "elsewhere").root
    app = project(tmp_path / "site", DATABASE_URL=f"sqlite:///{elsewhere}/data.db?timeout=5")
    guard = Covering(tmp_path)
    (note,) = protected(app, guard)
    assert guard.covered == [app.root, elsewhere]
    assert note.count("data.db (8 KiB)") == 2


def test_the_whole_working_copy_is_covered(tmp_path):
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    guard = Covering(tmp_path)
    protected(project(tmp_path / "repository" / "site"), guard)
    assert guard.covered == [tmp_path / "repository"]


def test_where_nothing_can_be_covered_and_a_copy_is_too_large_the_race_is_refused(tmp_path):
    app, guard = project(tmp_path / "site"), Covering(tmp_path, "no overlay over /x: Operation not permitted")
    with pytest.raises(
        InputError,
        match=r"the files in .*/site here, .* more than 4 KiB; give more, as in \[app\] copy_limit = .8KiB",
    ):
        protected(app, guard, most_bytes=4096)


@pytest.fixture
def forbidding(tmp_path):
    """A guard that covers nothing, with a run directory for copies."""
    (tmp_path / "run").mkdir()
    return Covering(tmp_path / "run", "Operation not permitted")


def test_where_nothing_can_be_covered_the_app_is_moved_to_a_copy(tmp_path, forbidding):
    app, heard = project(tmp_path / "site"), []
    protection = protect(app, app.root, forbidding, {}, heard.append)
    copy = Path(f"{forbidding.directory}/copy{app.root}")
    assert (protection.app.root, protection.app.python) == (copy, app.python)
    assert protection.is_whole
    assert (copy / "data.db").read_bytes() == (app.root / "data.db").read_bytes()
    assert heard == [Preparing(step=Step.PROJECT, subject="site (8 KiB)")]
    ran, wrote = protection.notes
    assert ran.startswith(f"The app ran in a copy of {app.root} (8 KiB), made in ")
    assert ran.endswith("a race cannot have its own view of the files here: Operation not permitted.")
    assert wrote.startswith("The app wrote to a copy of data.db (8 KiB), made in ")


def test_a_database_that_a_variable_names_by_its_whole_path_is_refused(tmp_path, forbidding):
    elsewhere = project(tmp_path / "elsewhere").root
    app = project(tmp_path / "site", DATABASE_URL=f"sqlite:///{elsewhere}/data.db?timeout=5")
    with pytest.raises(InputError, match=f"app writes to {elsewhere}/data.db, which is not copied and may change"):
        protect(app, app.root, forbidding, {}, str)


@pytest.mark.parametrize("name", ["data.db", "new.db"])
def test_so_is_one_in_the_project_even_if_it_is_made_later(tmp_path, forbidding, name):
    app = project(tmp_path / "site", DATABASE_URL=f"sqlite:///{tmp_path}/site/{name}")
    with pytest.raises(InputError, match=rf"site/{name}, which is not copied and may change: .* \[app\] env"):
        protect(app, app.root, forbidding, {}, str)


def test_a_relative_path_in_a_variable_leads_to_the_copy(tmp_path, forbidding):
    app = project(tmp_path / "site", DATABASE_URL="sqlite:///data.db")
    protection = protect(app, app.root, forbidding, {}, str)
    assert protection.is_whole
    assert data_paths(protection.app).files == (protection.app.root / "data.db",)


def django(folder, settings):
    folder.mkdir()
    (folder / "settings.py").write_text(settings)
    return App(name="site", root=folder, entry=entry_of(EntryKind.DJANGO, "settings"), python=Path(sys.executable))


COPIED_SETTINGS = """
from pathlib import Path

BASE = Path(__file__).resolve().parent
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": BASE.parent / "beside" / "data.db"}}
MEDIA_ROOT = BASE.parent / "media"
"""


def test_what_settings_lead_to_from_their_place_is_copied_to_where_the_copy_finds_it(tmp_path, forbidding):
    project(tmp_path / "beside")
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / "kept.txt").write_text("kept")
    app = django(tmp_path / "site", COPIED_SETTINGS)
    protection = protect(app, app.root, forbidding, {}, str)
    copies = Path(f"{forbidding.directory}/copy{tmp_path}")
    places = data_paths(protection.app)
    assert (places.files, places.folders) == ((copies / "beside/data.db",), (copies / "media",))
    assert places.files[0].exists()
    assert (copies / "media/kept.txt").read_text() == "kept"
    assert protection.is_whole


WSGI = """
import os
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings")
from django.core.wsgi import get_wsgi_application
application = get_wsgi_application()
"""


def test_a_django_project_that_is_given_by_its_wsgi_py_has_the_same_data(tmp_path, forbidding):
    project(tmp_path / "beside")
    by_settings = django(tmp_path / "site", COPIED_SETTINGS)
    (tmp_path / "site" / "wsgi.py").write_text(WSGI)
    app = replace(by_settings, entry=entry_of(EntryKind.WSGI, "wsgi:application"))
    assert data_paths(app) == data_paths(by_settings)
    assert data_paths(app).files == (tmp_path / "beside/data.db",)


def test_data_that_settings_name_by_their_whole_path_are_refused(tmp_path, forbidding):
    (tmp_path / "media").mkdir()
    app = django(tmp_path / "site", f"MEDIA_ROOT = '{tmp_path}/me' + 'dia'")
    with pytest.raises(InputError, match=f"the app writes to {tmp_path}/media, which is not copied and may change"):
        protect(app, app.root, forbidding, {}, str)


def test_a_folder_that_is_to_be_made_elsewhere_is_named(tmp_path, forbidding):
    app = django(tmp_path / "site", f"MEDIA_ROOT = '{tmp_path}/me' + 'dia'")
    protection = protect(app, app.root, forbidding, {}, str)
    assert not protection.is_whole
    assert protection.warnings[-1].startswith(
        f"The app writes to {tmp_path}/media, which is not copied and may change"
    )


@pytest.mark.parametrize("name", ["files", "data.db"])
def test_code_that_names_a_database_or_what_is_to_be_protected_is_refused(tmp_path, forbidding, name):
    app = project(tmp_path / "site")
    (app.root / "files").mkdir()
    (app.root / "shop.py").write_text(f"PLACE = '{app.root}/{name}'")
    with pytest.raises(InputError, match=rf"the app writes to {app.root}/{name} \(shop\.py\), which is not copied"):
        protect(app, app.root, forbidding, {}, str, also=[app.root / "files"])


@pytest.fixture(params=[True, False], ids=["Landlock", "no Landlock"])
def has_landlock(request, monkeypatch):
    """Whether the kernel can keep processes from writing to the originals."""
    monkeypatch.setattr("stackrace.deploy.project_copy.restricts", lambda: request.param)
    return request.param


def test_other_whole_paths_in_code_and_variables_are_named(tmp_path, forbidding, has_landlock):
    app = project(tmp_path / "site", FILES=f"{tmp_path}/site/files", PYTHONPATH=f"{tmp_path}/site")
    (app.root / "files").mkdir()
    (app.root / "shop.py").write_text(f"PLACE = '{app.root}/files/'\nLOG = '{app.root}/shop.py'")
    protection = protect(app, app.root, forbidding, {}, str)
    assert protection.warnings == (
        f"The app knows {app.root}/files (FILES), {app.root}/shop.py (shop.py) by its whole path, not its copy: "
        f"{'it cannot write there' if has_landlock else 'what it writes there changes in a race'}. Lead it to "
        "another by a variable, [app] env.",
    )


def test_a_command_that_names_an_original_is_refused(tmp_path, forbidding):
    app = replace(project(tmp_path / "site"), prepare=(("python", f"{tmp_path}/site/data.db"),))
    with pytest.raises(InputError, match=r"\[app\] prepare names .*/site/data\.db, .* relative to the app's root"):
        protect(app, app.root, forbidding, {}, str)


def test_links_to_data_elsewhere_lead_to_copies_and_what_is_too_large_is_named(tmp_path, forbidding, has_landlock):
    app = project(tmp_path / "site")
    (tmp_path / "small").mkdir()
    (tmp_path / "large").mkdir()
    (tmp_path / "large" / "file").write_bytes(b"x" * 10**6)
    for name in ("small", "large"):
        (app.root / name).symlink_to(f"../{name}")
    protection = protect(app, app.root, forbidding, {}, str, 10**5)
    copies = Path(f"{forbidding.directory}/copy{tmp_path}")
    assert (protection.app.root / "small").resolve() == copies / "small"
    (warning,) = protection.warnings
    what = "stays as it is" if has_landlock else "may change"
    assert warning.startswith(f"The app writes to {tmp_path}/large, which is not copied and {what}: it is too")


def test_where_only_a_folder_beside_the_project_cannot_be_covered_it_alone_is_named(tmp_path):
    elsewhere = project(tmp_path / "elsewhere").root
    app = project(tmp_path / "site", DATABASE_URL=f"sqlite:///{elsewhere}/data.db")
    guard = Covering(tmp_path, "no overlay over it", only=elsewhere)
    copied, uncovered = protected(app, guard)
    assert guard.covered == [app.root]
    assert copied.startswith("The app wrote to a copy of data.db (8 KiB), made in ")
    assert f"writes to {elsewhere} itself ({elsewhere}/data.db may change)" in uncovered
    assert str(app.root) not in uncovered


def test_the_whole_file_system_is_never_covered_and_a_missing_folder_below_it_is_named(tmp_path, monkeypatch):
    missing = Path("/no-such-folder/media")
    monkeypatch.setattr(protection, "data_paths", lambda app, view: DataPaths(folders=(missing,)))
    app, guard = project(tmp_path / "site"), Covering(tmp_path)
    said = protected(app, guard)[-1]
    assert guard.covered == [app.root]
    assert said.startswith(f"The app writes to / itself ({missing} may change)")
    assert "no view covers all files" in said


def test_a_project_at_the_top_of_the_file_system_is_not_covered_either(tmp_path):
    guard = Covering(tmp_path)
    with pytest.raises(InputError, match="view of the files in / here, and a copy would take more"):
        protect(replace(project(tmp_path / "site"), root=Path("/")), Path("/"), guard, {}, lambda what: None, 1)
    assert guard.covered == []


def test_a_copy_that_does_not_fit_is_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(protection, "size_bytes", lambda path: 10**18)
    with pytest.raises(InputError, match=r"no room for a copy of data\.db .*set TMPDIR"):
        protected(project(tmp_path / "site"), Covering(tmp_path))


def test_a_database_that_is_written_to_all_the_time_is_named_and_the_race_goes_on(tmp_path, monkeypatch):
    app = project(tmp_path / "site")
    monkeypatch.setattr(protection, "bring_in", lambda path, view: False)
    assert protected(app, Covering(tmp_path)) == (
        f"Another program writes to {app.root}/data.db all the time: there is no copy of it, and the app "
        "runs without it. If the app needs it, stop that program while the race begins.",
    )


def test_a_database_server_is_named_with_what_to_do(tmp_path):
    url = "postgresql+psycopg://me:secret@db.example.com/shop"
    note = protected(project(tmp_path / "site", DATABASE_URL=url), Covering(tmp_path))[-1]
    assert "the postgresql database shop on db.example.com (DATABASE_URL), which is not copied" in note
    assert '[app] services = ["postgresql"], prepare = [{ run = "psql < dump.sql", shell = true }]' in note
    assert "secret" not in note


def test_the_races_own_database_server_needs_no_word(tmp_path):
    url = f"postgresql://postgres@/postgres?host={tmp_path}"
    for beside in ({"DATABASE_URL": url}, {}):
        notes = protected(project(tmp_path / "site", DATABASE_URL=url), Covering(tmp_path), beside)
        assert len(notes) == 1


def test_a_database_on_another_machine_is_the_races_own_where_its_variables_lead_there(tmp_path):
    url = "postgresql://postgres:secret@10.0.0.3:50432/postgres"
    beside = {"DATABASE_URL": url}
    app = project(tmp_path / "site", SHOP_URL=url)
    assert len(protected(app, Covering(tmp_path), beside)) == 1
    app = project(tmp_path / "site", SHOP_URL=url.replace("50432", "5432"))
    assert "the postgresql database postgres on 10.0.0.3" in protected(app, Covering(tmp_path), beside)[-1]


def test_plain_files_write_nothing(tmp_path):
    app = App(name="public", root=tmp_path, entry=entry_of(EntryKind.FILES, "."))
    guard = Covering(tmp_path)
    assert protected(app, guard) == ()
    assert guard.covered == []


SETTINGS = """
LOGGING = {"version": 1, "handlers": {"file": {"class": "logging.FileHandler", "filename": "/srv/site.log"}}}
DATABASES = {
    "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "/srv/a.db"},
    "memory": {"ENGINE": "django.db.backends.sqlite3", "NAME": "file:x?mode=memory&cache=shared:memory:"},
    "uri": {"ENGINE": "django.db.backends.sqlite3", "NAME": "file:/srv/b.db?mode=rw"},
    "shop": {
        "ENGINE": "django.contrib.gis.db.backends.postgis", "NAME": "shop", "HOST": "db.example.com", "PORT": 5433
    },
    "none": {},
}
MEDIA_ROOT = "uploads"
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.filebased.FileBasedCache", "LOCATION": "/srv/cache"},
    "other": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "name"},
}
STORAGES = {
    "default": {"BACKEND": "x", "OPTIONS": {"location": "/srv/files"}},
    "staticfiles": {"BACKEND": "x"},
}
SESSION_ENGINE = "django.contrib.sessions.backends.file"
SESSION_FILE_PATH = "/srv/sessions"
"""


def test_djangos_settings_say_where_it_keeps_what_it_writes(tmp_path):
    (tmp_path / "settings.py").write_text(SETTINGS)
    app = App(name="site", root=tmp_path, entry=entry_of(EntryKind.DJANGO, "settings"), python=Path(sys.executable))
    places = data_paths(app)
    assert set(map(str, places.files)) == {"/srv/a.db", "/srv/b.db", "/srv/site.log"}
    assert set(map(str, places.folders)) == {
        f"{tmp_path}/uploads", "/srv/cache", "/srv/files", "/srv/sessions"
    }  # fmt: skip
    (server,) = places.servers
    assert (server.kind, server.name, server.host, server.port) == ("postgresql", "shop", "db.example.com", "5433")
    assert server.key == "DATABASES['shop']"


def test_settings_that_do_not_load_say_nothing(tmp_path):
    (tmp_path / "settings.py").write_text("raise SystemExit('no')")
    entry = entry_of(EntryKind.DJANGO, "settings")
    app = App(name="site", root=tmp_path, entry=entry, python=Path(sys.executable))
    assert data_paths(app).files == ()


def test_a_folder_around_the_races_own_and_that_of_a_file_are_covered(tmp_path):
    app, run = project(tmp_path / "site"), tmp_path / "temporary" / "run"
    run.mkdir(parents=True)
    (tmp_path / "shared").mkdir()
    also = [tmp_path / "temporary", tmp_path / "shared" / "counts"]
    guard = Covering(run)
    protect(app, app.root, guard, {}, str, also=also)
    assert guard.covered == [app.root, tmp_path / "shared", tmp_path / "temporary"]


def test_links_within_the_project_and_around_it_lead_to_no_data_elsewhere(tmp_path):
    app, guard = project(tmp_path / "site"), Covering(tmp_path)
    (app.root / "above").symlink_to("..")
    (app.root / "same.db").symlink_to("data.db")
    protect(app, app.root, guard, {}, str)
    assert guard.covered == [app.root]
