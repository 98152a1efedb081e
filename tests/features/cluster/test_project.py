"""Whether hosts have the project that is here: what is compared, and what is said of a host that differs."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tests.hostile import give_away

from stackrace.app.app import Entry, EntryKind
from stackrace.base.errors import InputError, RepositoryError
from stackrace.features.cluster import project
from stackrace.features.cluster.cluster_options import ClusterRequest
from stackrace.features.cluster.project import (
    Project,
    differences,
    project_of,
    remote_project_of,
    request_for_hosts,
)
from stackrace.race.request.request import RaceRequest, WorkloadRequest
from stackrace.race.results.parts import Parts

WSGI = Entry(kind=EntryKind.WSGI, target="app:application")


ELSEWHERE = Parts().having(ClusterRequest(cluster_project=Path("/srv/app")))


def git(folder, *words):
    subprocess.run(["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=b", *words], check=True)


def make(root, *names):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)


def files(folder, **more):
    entry = Entry(kind=EntryKind.FILES, target=".")
    return set(project_of(RaceRequest(folder=folder, entry=entry, **more)).files)


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "site"
    make(root, "app.py", "gone.py", "back/end.py", "db.sqlite3", "media/a.png", "back/__pycache__/end.pyc")
    (root / ".gitignore").write_text("*.sqlite3\nmedia/\n__pycache__\n.env\n")
    git(tmp_path, "init", "--quiet", str(root))
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "all")
    return root


def test_what_git_tracks_or_does_not_ignore_is_compared(repository):
    (repository / "gone.py").unlink()
    make(repository, "new.py")
    assert files(repository) == {".gitignore", "app.py", "back/end.py", "new.py"}


def test_the_whole_working_copy_is_compared_with_a_project_in_it(repository):
    assert files(repository / "back") == {"../.gitignore", "../app.py", "../gone.py", "end.py"}


def test_a_repository_within_another_is_compared_with_it(repository):
    make(repository, "inner/module.py", "inner/left.log")
    (repository / "inner" / ".gitignore").write_text("*.log")
    git(repository, "init", "--quiet", "inner")
    assert {name for name in files(repository) if name.startswith("inner")} == {
        "inner/.gitignore", "inner/module.py",
    }  # fmt: skip


def test_a_repository_that_git_refuses_is_not_compared_without_it(repository):
    give_away(repository)
    with pytest.raises(RepositoryError, match="git config --global"):
        files(repository)


def test_a_project_that_git_ignores_is_compared_as_one_without_git(repository):
    make(repository, "media/site/app.py")
    assert files(repository / "media" / "site") == {"app.py"}


def test_without_git_all_is_compared_but_environments_history_and_caches(tmp_path):
    root = tmp_path / "site"
    make(
        root, "app.py", "data/db.sqlite3", "data/db.sqlite3-wal", ".env", ".venv/pyvenv.cfg", ".venv/bin/python",
        "other/pyvenv.cfg", "__pycache__/app.pyc", ".git/config", "back/.mypy_cache/x",
    )  # fmt: skip
    (root / "data" / "db.sqlite3").write_bytes(b"SQLite format 3\0".ljust(512, b"\0"))
    (root / "link").symlink_to("data")
    assert files(root) == {"app.py", "data/db.sqlite3", ".env", "link"}


def test_of_a_home_that_is_a_repository_only_the_project_is_compared(repository, monkeypatch):
    monkeypatch.setattr(project.Path, "home", lambda: repository)
    assert files(repository / "back") == {"end.py"}


def test_the_same_files_are_compared_whatever_a_hook_has_set(repository, monkeypatch):
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert "app.py" in files(repository)


def test_files_that_the_race_names_are_compared_although_git_ignores_them(repository):
    make(repository, ".env", "media/visit.har")
    named = {"env_files": (repository / ".env",), "session": repository / "media" / "visit.har"}
    assert files(repository, **named) >= {".env", "media/visit.har"}


def test_what_cannot_be_read_is_named(repository, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(project, "opened", refuse)
    with pytest.raises(InputError, match=r"app\.py cannot be read|\.gitignore cannot be read"):
        files(repository)


def test_of_the_bundled_app_nothing_is_compared(repository):
    assert project_of(RaceRequest(folder=repository, bundled="django")).files == {}


def test_interpreter_and_packages_are_those_of_the_apps_environment(repository):
    subprocess.run(["python3", "-m", "venv", "--without-pip", repository / ".venv"], check=True)
    packages = next((repository / ".venv" / "lib").glob("python3*/site-packages"))
    make(packages, "Some_Thing-1.5.dist-info/METADATA")
    (packages / "Some_Thing-1.5.dist-info" / "METADATA").write_text("Name: Some_Thing\nVersion: 1.5\n")
    (repository / "app.py").write_text("application = None\n")
    found = project_of(RaceRequest(folder=repository, entry=WSGI))
    assert found.packages == {"some-thing": "1.5"}
    assert found.python.startswith("3.")
    assert len(found.commit) == 40


def test_a_host_without_the_folder_is_told_of_the_ways_out(tmp_path):
    request = RaceRequest(folder=tmp_path / "none", entry=WSGI)
    assert remote_project_of(request) is None
    (said,) = differences(HERE, "host-1", None, request.folder)
    assert "host-1 has no folder" in said
    assert "--cluster-project" in said


HERE = Project(
    folder=Path("/me/app"), commit="a" * 40, files={"app.py": "1", "b.py": "2"}, python="3.12.4",
    packages={"django": "5.2", "sqlparse": "0.5"},
)  # fmt: skip
THERE = replace(HERE, folder=Path("/srv/app"), python="3.12.1")


def test_the_same_project_elsewhere_is_no_difference():
    assert list(differences(HERE, "host-1", THERE, THERE.folder)) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"commit": "b" * 40},
            "is at commit bbbbbbb, and /me/app is at aaaaaaa here; check out the same one there",
        ),
        ({"files": {"app.py": "1"}}, "it lacks b.py; bring the same files there, as with `git pull` or rsync"),
        ({"files": {"app.py": "0", "b.py": "2", "c": "3"}}, "it has another app.py, has in addition c; bring"),
        ({"python": "", "packages": {}}, "no environment with all that the app imports; make it anew in /srv/app"),
        ({"python": "3.11.9"}, "the app's Python is 3.11.9 there, and 3.12.4 here; give it the same version"),
        ({"packages": {"django": "4.2"}}, "django 4.2 (5.2 here), sqlparse is missing (0.5 here); make it anew"),
    ],
)
def test_a_host_that_differs_is_named_with_what_to_do(changes, said):
    (words,) = differences(HERE, "host-1", replace(THERE, **changes), THERE.folder)
    assert words.startswith("host-1")
    assert said in words


def test_a_copy_without_git_may_hold_what_git_ignores_here():
    copy = replace(THERE, commit="", files={**THERE.files, ".env": "3"})
    assert list(differences(HERE, "host-1", copy, copy.folder)) == []


def test_no_more_than_five_files_are_named():
    (words,) = differences(HERE, "h", replace(THERE, files={f"{n}.py": "" for n in range(9)}), THERE.folder)
    assert "has in addition 0.py, 1.py, 2.py, 3.py, 4.py and 4 more" in words


def test_a_request_names_the_projects_files_where_they_are_on_hosts(tmp_path):
    request = RaceRequest(
        folder=tmp_path, entry=WSGI, parts=ELSEWHERE, python=tmp_path / ".venv/bin/python",
        env_files=(tmp_path / ".env", Path("/etc/app.env")), static={"/static/": tmp_path / "static"},
        prepare=(("python", f"{tmp_path}/manage.py"),), environment={"DATA": f"{tmp_path}/data", "WORD": "x"},
        stacks=(f"nginx:config={tmp_path}/site.conf", "waitress"),
        workloads=(WorkloadRequest(name="", session=tmp_path / "a.har"),),
    )  # fmt: skip
    moved = request_for_hosts(request)
    assert (moved.folder, moved.python) == (Path("/srv/app"), Path("/srv/app/.venv/bin/python"))
    assert moved.env_files == (Path("/srv/app/.env"), Path("/etc/app.env"))
    assert moved.static == {"/static/": Path("/srv/app/static")}
    assert moved.prepare == (("python", "/srv/app/manage.py"),)
    assert moved.environment == {"DATA": "/srv/app/data", "WORD": "x"}
    assert moved.stacks == ("nginx:config=/srv/app/site.conf", "waitress")
    assert moved.workloads[0].session == Path("/srv/app/a.har")


def test_a_request_is_told_by_whole_paths_since_hosts_start_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    request = RaceRequest(folder=Path("site"), bundled="django", session=Path("a.har"), python=Path("python3.12"))
    moved = request_for_hosts(request)
    assert (moved.folder, moved.session) == (tmp_path / "site", tmp_path / "a.har")
    assert moved.python == Path("python3.12")


def test_an_environment_outside_of_the_project_is_named_to_hosts(repository, tmp_path, monkeypatch):
    subprocess.run(["python3", "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    (repository / "app.py").write_text("application = None\n")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "venv"))
    moved = request_for_hosts(RaceRequest(folder=repository, entry=WSGI))
    assert moved.python == tmp_path / "venv" / "bin" / "python"


def test_hosts_race_the_bundled_app_where_no_project_is_here(tmp_path):
    assert request_for_hosts(RaceRequest(folder=tmp_path)).bundled == "django"
