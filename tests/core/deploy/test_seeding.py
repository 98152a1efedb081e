"""Which preparations are known well enough that their outcome may be kept."""

import shutil
from dataclasses import replace

import pytest

from stackrace.app.bundle import bundled, digest
from stackrace.deploy.seeding import _within


@pytest.fixture
def app(tmp_path):
    return bundled().app(python=tmp_path / "bin" / "python", data=tmp_path)


def test_the_bundled_apps_own_preparation_is_known(app):
    assert all(_within(command, app.root) for command in app.prepare)
    assert _within(("python", "manage.py", "seed", "browse"), app.root)
    assert _within(("python", "./manage.py", "seed", "--rows=1000"), app.root)
    assert _within(("python", "-m", "sample.settings"), app.root)


@pytest.mark.parametrize(
    "command",
    [
        "true",
        "python -m something",
        "python /srv/seed.py",
        "python manage.py loaddata /srv/dump.json",
        "python manage.py loaddata --from=~/dump.json",
        "python manage.py loaddata ../dump.json",
        "python ../django/manage.py migrate",
    ],
)
def test_what_reads_other_files_is_prepared_each_time(app, command):
    assert not _within(command.split(), app.root)


def test_a_shell_line_that_leads_elsewhere_is_no_exception(app):
    assert not _within(("sh", "-c", "python manage.py loaddata </srv/dump.json", "manage.py"), app.root)


def test_a_users_own_app_has_no_digest(app, tmp_path):
    assert digest(app) is not None
    assert digest(replace(app, root=tmp_path)) is None


def test_every_byte_counts_except_byte_code(app, tmp_path, monkeypatch):
    folder = tmp_path / "copy"
    shutil.copytree(app.root, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr("stackrace.app.bundle._BUNDLED", tmp_path)
    before = digest(replace(app, root=folder))
    assert before == digest(replace(app, root=folder))
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "manage.pyc").write_bytes(b"byte code")
    assert digest(replace(app, root=folder)) == before
    with (folder / "manage.py").open("a") as file:
        file.write("#")
    assert digest(replace(app, root=folder)) != before
