"""Which version of a project a folder holds."""

import subprocess

import pytest

from stackrace.app.revision import source_of

WHO = ("-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "init.defaultBranch=main")


def git(folder, *words):
    subprocess.run(["git", *WHO, "-C", str(folder), *words], check=True, capture_output=True)


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "app.py").write_text("app = 1\n")
    git(folder, "init")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "first")
    return folder


def test_it_is_the_commit_that_is_checked_out_and_whether_files_differ(project):
    clean = source_of(project)
    assert len(clean.commit) == 40
    assert clean.committed_at[:2] == "20"
    assert not clean.changed
    assert clean.short == clean.commit[:7]
    (project / "new.py").write_text("")
    assert source_of(project).changed
    assert source_of(project).short == clean.commit[:7] + "+"


def test_clones_of_one_repository_are_one_project_however_its_address_is_written(project, tmp_path):
    for name, address in {
        "one": "git@example.com:shop/site.git",
        "two": "https://me@example.com/shop/site",
    }.items():
        git(tmp_path, "clone", str(project), name)
        git(tmp_path / name, "remote", "set-url", "origin", address)
    one, two = source_of(tmp_path / "one"), source_of(tmp_path / "two")
    assert one.project == two.project != source_of(project).project
    assert one.commit == two.commit


def test_two_folders_of_one_repository_are_two_projects(project):
    for name in ("a", "b"):
        (project / name).mkdir()
    assert source_of(project / "a").project != source_of(project / "b").project


def test_a_folder_without_git_or_commit_is_known_by_its_place_alone(tmp_path):
    plain = source_of(tmp_path)
    assert (plain.commit, plain.changed, plain.short) == ("", False, "")
    assert plain.project == source_of(tmp_path).project
    git(tmp_path, "init")
    assert source_of(tmp_path).commit == ""


def test_the_variables_of_a_hook_lead_to_no_other_repository(project, tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert source_of(project).commit


def test_the_program_is_not_needed(project, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert len(source_of(project).commit) == 40


def test_what_differs_within_a_submodule_differs(project, tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "file")
    git(tmp_path, "clone", "--quiet", str(project), "whole")
    whole = tmp_path / "whole"
    git(whole, "submodule", "add", str(project), "part")
    git(whole, "commit", "-m", "second")
    assert not source_of(whole).changed
    (whole / "part" / "app.py").write_text("app = 2\n")
    assert source_of(whole).changed


def test_files_of_a_project_that_look_like_a_repository_are_none(project):
    """Their settings come with the project, so that they are anybody's."""
    git(project, "clone", "--bare", ".", "inner")
    git(project / "inner", "config", "core.bare", "false")
    git(project / "inner", "config", "core.worktree", "..")
    assert source_of(project / "inner").commit == source_of(project).commit
