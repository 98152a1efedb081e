"""What a change is compared with."""

import pytest

from stackrace.base.errors import InputError
from stackrace.features.regression.repository import repository_of


def test_a_folder_without_a_repository_is_told_what_else_can_be_compared(tmp_path):
    with pytest.raises(InputError, match=r"no git repository.*--head-python"):
        repository_of(tmp_path)


def test_a_repository_without_a_commit_has_no_base(tmp_path, work):
    empty = type(work)(tmp_path / "empty")
    with pytest.raises(InputError, match="no commit yet"):
        repository_of(empty.folder)


def test_the_repository_of_a_folder_below_is_found(work):
    work.write("api/views.py")
    assert repository_of(work.folder / "api").top == work.folder


def test_an_unknown_revision_is_named(work):
    with pytest.raises(InputError, match=r"--base nowhere: .* has no such revision"):
        repository_of(work.folder).revision("nowhere")


def test_what_looks_like_an_option_is_only_a_revision(work):
    with pytest.raises(InputError, match="has no such revision"):
        repository_of(work.folder).revision("--all")


def test_on_the_default_branch_the_commit_before_is_the_base(work):
    base = repository_of(work.folder).default_base()
    assert (base.label, base.commit) == ("HEAD^", work.git("rev-parse", "HEAD^"))


def test_with_changes_on_the_default_branch_the_last_commit_is_the_base(work):
    work.write("app.py", "version = 3\n")
    work.write("new.py")
    repository = repository_of(work.folder)
    assert repository.changes() == 2
    assert repository.default_base().commit == work.git("rev-parse", "HEAD")


def test_a_branch_is_compared_with_where_it_left_the_default_one(work):
    left = work.git("rev-parse", "HEAD")
    work.git("checkout", "--quiet", "-b", "faster")
    work.commit(app_py="version = 3\n")
    work.git("checkout", "--quiet", "main")
    work.commit(other_py="")
    work.git("checkout", "--quiet", "faster")
    base = repository_of(work.folder).default_base()
    assert (base.label, base.commit) == ("where main was left", left)


def test_a_shallow_clone_says_how_to_get_the_rest(tmp_path, work):
    work.git("clone", "--quiet", "--depth", "1", work.folder.as_uri(), str(tmp_path / "clone"))
    with pytest.raises(InputError, match="fetch-depth: 0"):
        repository_of(tmp_path / "clone").default_base()
    with pytest.raises(InputError, match="fetch-depth: 0"):
        repository_of(tmp_path / "clone").revision(work.git("rev-parse", "HEAD^"))


def test_variables_of_a_hook_lead_nowhere_else(work, monkeypatch, tmp_path):
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert repository_of(work.folder).top == work.folder


def test_at_the_tip_of_the_default_branch_another_branchs_name_is_no_base(work):
    before = work.git("rev-parse", "HEAD^")
    work.git("update-ref", "refs/remotes/origin/master", before)
    work.commit(app_py="version = 3\n")
    work.git("update-ref", "refs/remotes/origin/main", "HEAD")
    base = repository_of(work.folder).default_base()
    assert (base.label, base.commit) == ("HEAD^", work.git("rev-parse", "HEAD^"))
