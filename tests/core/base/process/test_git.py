"""Git runs what its user set, and what Git LFS sets; nothing that a repository brings along."""

import os
import subprocess

import pytest

from stackrace.base.errors import OwnerError
from stackrace.base.process import foreign_filters, git


@pytest.fixture
def home(tmp_path, monkeypatch):
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return folder


@pytest.fixture
def repository(home, tmp_path):
    folder = tmp_path / "shop"
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    return folder


def put(folder, name, value, *where):
    subprocess.run(["git", "config", *where, name, value], cwd=folder, check=True)


LFS = {
    "clean": "git-lfs clean -- %f",
    "smudge": "git-lfs smudge -- %f",
    "process": "git-lfs filter-process",
    "required": "true",
}


def test_of_filters_only_those_of_git_lfs_and_of_the_user_are_known(repository):
    for name, value in LFS.items():
        put(repository, f"filter.lfs.{name}", value)
    put(repository, "filter.notebook.clean", "nbstripout")
    put(repository, "filter.notebook.smudge", "cat")
    assert foreign_filters(repository, timeout_s=60) == []
    put(repository, "filter.crypt.smudge", "git-crypt smudge")
    put(repository, "filter.crypt.required", "true")
    assert foreign_filters(repository, timeout_s=60) == [("filter.crypt.smudge", "git-crypt smudge")]
    put(repository, "filter.crypt.smudge", "git-crypt smudge", "--global")
    assert foreign_filters(repository, timeout_s=60) == []
    put(repository, "filter.crypt.smudge", "other")
    assert foreign_filters(repository, timeout_s=60) == [("filter.crypt.smudge", "other")]


@pytest.mark.parametrize("value", ["sh -c evil", "git-lfs smudge -- %f; evil", "./git-lfs smudge -- %f"])
def test_git_lfs_is_known_by_its_command_and_not_by_its_name(repository, value):
    put(repository, "filter.lfs.smudge", value)
    assert foreign_filters(repository, timeout_s=60) == [("filter.lfs.smudge", value)]


def test_settings_that_include_a_named_pipe_are_refused_with_its_name(repository):
    os.mkfifo(repository / ".git/pipe")
    put(repository, "include.path", "pipe")
    folder = repository / "within"
    folder.mkdir()
    said = f"cannot read {repository}/.git/config: its include.path names a named pipe"
    with pytest.raises(OwnerError, match=said):
        git(folder, "status", timeout_s=60)
