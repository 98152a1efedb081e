"""What of a project is sent."""

import subprocess

import pytest

from stackrace.base.errors import OwnerError
from stackrace.features.cluster.shipping import selection
from stackrace.features.cluster.shipping.selection import project_files


def git(folder, *words):
    subprocess.run(["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=b", *words], check=True)


def make(root, *names):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)


def selected(folder):
    found = project_files(folder)
    return {str(path.relative_to(found.top)) for path in found.names}


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "site"
    make(root, "app.py", "gone.py", "back/end.py", "db.sqlite3", "media/a.png", "back/__pycache__/end.pyc")
    (root / ".gitignore").write_text("*.sqlite3\nmedia/\n__pycache__\n")
    git(tmp_path, "init", "--quiet", str(root))
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "all")
    return root


def test_what_git_tracks_or_does_not_ignore_is_sent(repository):
    (repository / "gone.py").unlink()
    make(repository, "new.py")
    assert selected(repository) == {".git", ".gitignore", "app.py", "back/end.py", "new.py"}
    assert set(project_files(repository).ignored) == {"db.sqlite3", "media/"}


def test_the_whole_working_copy_is_sent_with_a_project_in_it(repository):
    assert project_files(repository / "back").top == repository
    assert "app.py" in selected(repository / "back")


def test_a_repository_within_another_is_sent_with_it(repository):
    make(repository, "inner/module.py", "inner/left.log")
    (repository / "inner" / ".gitignore").write_text("*.log")
    git(repository, "init", "--quiet", "inner")
    assert {name for name in selected(repository) if name.startswith("inner")} == {
        "inner/.gitignore", "inner/module.py",
    }  # fmt: skip


def test_a_repository_that_git_refuses_is_not_sent_with_what_it_ignores(repository, monkeypatch):
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(OwnerError, match="git config --global"):
        project_files(repository)


def test_a_project_that_git_ignores_is_sent_as_one_without_git(repository):
    make(repository, "media/site/app.py")
    assert selected(repository / "media" / "site") == {"app.py"}


def test_without_git_all_is_sent_but_environments_history_and_caches(tmp_path):
    root = tmp_path / "site"
    make(
        root, "app.py", "data/db.sqlite3", ".env", ".venv/pyvenv.cfg", ".venv/bin/python", "other/pyvenv.cfg",
        "__pycache__/app.pyc", ".git/config", "back/.mypy_cache/x",
    )  # fmt: skip
    (root / "link").symlink_to("data")
    (root / "empty").mkdir()
    assert selected(root) == {"app.py", "data/db.sqlite3", ".env", "link", "empty", "back"}


def test_environments_are_left_out_also_where_git_does_not_ignore_them(repository):
    make(repository, "env/pyvenv.cfg", "env/lib/module.py")
    assert not [name for name in selected(repository) if name.startswith("env")]


def test_of_a_home_that_is_a_repository_only_the_project_is_sent(repository, monkeypatch):
    monkeypatch.setattr(selection.Path, "home", lambda: repository)
    assert project_files(repository / "back").top == repository / "back"
    assert selected(repository / "back") == {"end.py"}


def test_the_same_files_are_sent_whatever_a_hook_has_set(repository, monkeypatch):
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert "app.py" in selected(repository)
