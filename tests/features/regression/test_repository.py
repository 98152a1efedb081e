"""What git says of a folder, and a commit beside the work tree."""

import hashlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from stackrace.base.errors import InputError
from stackrace.base.files import remove_tree, size_of
from stackrace.deploy import privileges
from stackrace.features.regression import checkout as checking_out
from stackrace.features.regression.checkout import checked_out
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


@pytest.mark.parametrize("name", ["nowhere", "--all"])
def test_an_unknown_revision_is_named_and_what_looks_like_an_option_is_only_one(work, name):
    with pytest.raises(InputError, match=f"--base {name}: .* has no such revision"):
        repository_of(work.folder).revision(name)


def base_of(work):
    base = repository_of(work.folder).default_base()
    return base.label, base.commit


def test_on_the_default_branch_the_commit_before_is_the_base_and_with_changes_the_last_one(work):
    assert base_of(work) == ("HEAD^", work.git("rev-parse", "HEAD^"))
    work.write("app.py", "version = 3\n")
    work.write("new.py")
    assert repository_of(work.folder).changes() == 2
    assert base_of(work) == ("HEAD", work.git("rev-parse", "HEAD"))


def test_a_branch_is_compared_with_where_it_left_the_default_one(work):
    left = work.git("rev-parse", "HEAD")
    work.git("checkout", "--quiet", "-b", "faster")
    work.commit(app_py="version = 3\n")
    work.git("checkout", "--quiet", "main")
    work.commit(other_py="")
    work.git("checkout", "--quiet", "faster")
    assert base_of(work) == ("where main was left", left)


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
    assert base_of(work) == ("HEAD^", work.git("rev-parse", "HEAD^"))


@pytest.fixture(autouse=True)
def temporary_folder(monkeypatch):
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


def checkout(work, most_bytes=10**6):
    found = repository_of(work.folder)
    return checked_out(found, found.revision("HEAD~1"), most_bytes)


def test_it_holds_that_commit_and_is_gone_afterwards_and_after_an_error_too(work, temporary_folder):
    with pytest.raises(KeyboardInterrupt), checkout(work) as (tree, notes):
        assert (tree / "app.py").read_text() == "version = 1\n"
        assert (work.folder / "app.py").read_text() == "version = 2\n"
        assert notes == ()
        raise KeyboardInterrupt
    assert not list(temporary_folder.iterdir())


def test_a_check_that_is_killed_leaves_no_tree(work, temporary_folder):
    script = (
        "import signal, sys; from pathlib import Path\n"
        "from stackrace.features.regression.checkout import checked_out\n"
        "from stackrace.features.regression.repository import repository_of\n"
        "work = repository_of(Path(sys.argv[1]))\n"
        "with checked_out(work, work.revision('HEAD~1'), 1000) as (tree, _):\n"
        "    assert (tree / 'app.py').exists()\n"
        "    signal.raise_signal(signal.SIGKILL)\n"
    )
    environment = {**os.environ, "TMPDIR": str(temporary_folder)}
    killed = subprocess.run([sys.executable, "-c", script, str(work.folder)], env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    until = time.monotonic() + 1800
    while list(temporary_folder.iterdir()):
        assert time.monotonic() < until
        time.sleep(0.05)


def test_byte_code_that_a_killed_check_left_goes_with_the_next(work, temporary_folder, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(work.folder.parent / "cache"))
    left = work.folder.parent / f"cache/stackrace/pycache{temporary_folder}/stackrace-01234567"
    left.mkdir(parents=True)
    with checkout(work) as (tree, _):
        assert (tree / "app.py").exists()
        assert not left.exists()


def test_both_sides_share_what_git_ignores_but_no_environment_and_no_new_file(work):
    work.write(".gitignore", "*.sqlite3\n.env\n.venv/\nstatic/\n__pycache__/\nnode_modules/\n")
    for name in ("db.sqlite3", ".env", "static/a.css", "__pycache__/app.pyc", "node_modules/x.js"):
        work.write(name, "shared")
    work.write(".venv/pyvenv.cfg")
    work.write("new.py", "of the head alone")
    with checkout(work) as (tree, _):
        assert (tree / "db.sqlite3").read_text() == (tree / "static/a.css").read_text() == "shared"
        assert (tree / ".env").is_file()
        assert (tree / "node_modules").is_symlink()
        assert not [name for name in (".venv", "new.py", "__pycache__") if (tree / name).exists()]


def test_what_is_too_large_to_copy_is_said(work):
    work.write(".gitignore", "*.sqlite3\n")
    work.write("db.sqlite3", "x" * 2000)
    with checkout(work, most_bytes=1000) as (tree, notes):
        assert not (tree / "db.sqlite3").exists()
        assert "db.sqlite3" in notes[0]


def test_the_smallest_ignored_files_are_copied_first_and_our_own_caches_never(work, monkeypatch):
    work.write(".gitignore", "*.sqlite3\nassets/\n.stackrace/\nvar/\n")
    work.write("assets/a.bin", "x" * 900)
    work.write("db.sqlite3", "x" * 200)
    work.write(".stackrace/pip/wheel", "x" * 10)
    work.write("var/stackrace/x", "x" * 10)
    monkeypatch.setenv("XDG_CACHE_HOME", str(work.folder / "var"))
    with checkout(work, most_bytes=1000) as (tree, notes):
        assert (tree / "db.sqlite3").exists()
        assert not [name for name in ("assets", ".stackrace", "var") if (tree / name).exists()]
        assert notes[0].startswith(
            "The base lacks ignored files that are too large to copy ([app] copy_limit): assets"
        )
        assert notes[1:] == (
            "The base lacks ignored files that could not be copied: var (it holds our own cache).",
        )


def test_what_cannot_be_copied_is_said_and_what_vanishes_is_not(work, monkeypatch):
    work.write(".gitignore", "*.log\ndata/\n")
    for name in ("gone.log", "closed.log", "data/closed.bin", "data/open.bin"):
        work.write(name, "x")
    os.mkfifo(work.folder / "data" / "pipe")
    original = checking_out.copy_as_it_is

    def copy(source, target):
        if source.name == "gone.log":
            source.unlink()
        if "closed" in source.name:
            raise PermissionError(13, "Permission denied", str(source))
        return original(source, target)

    monkeypatch.setattr(checking_out, "copy_as_it_is", copy)
    with checkout(work) as (tree, notes):
        assert (tree / "data/open.bin").exists()
        assert notes == (
            "The base lacks ignored files that could not be copied: closed.log (Permission denied), "
            "data/closed.bin (Permission denied).",
        )


@pytest.mark.exhaustive
def test_folders_of_any_depth_are_copied_with_links_as_they_are_and_without_pipes_and_sockets(work, request):
    # pytest itself removes none so deep
    request.addfinalizer(lambda: remove_tree(work.folder))
    work.write(".gitignore", "data/\n")
    work.write("data/closed/a.txt", "shared")
    (work.folder / "data/closed").chmod(0o555)
    os.mkfifo(work.folder / "data/pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(work.folder / "data/socket"))
    for name, target in {"itself": "itself", "above": "..", "nowhere": "/nowhere/at/all"}.items():
        (work.folder / "data" / name).symlink_to(target)
    deep = Path("data")
    # deeper than Python calls itself
    for _ in range(1100):
        deep /= "d"
        (work.folder / deep).mkdir()
    (work.folder / deep / "b.txt").write_text("shared")
    with checkout(work) as (tree, notes):
        assert notes == ()
        assert (tree / deep / "b.txt").read_text() == (tree / "data/closed/a.txt").read_text() == "shared"
        assert (tree / "data/closed").stat().st_mode & 0o777 == 0o555
        assert {name: str((tree / "data" / name).readlink()) for name in ("itself", "above")} == {
            "itself": "itself", "above": "..",
        }  # fmt: skip
        assert sorted(path.name for path in (tree / "data").iterdir()) == [
            "above",
            "closed",
            "d",
            "itself",
            "nowhere",
        ]
    assert not tree.parent.exists()


def test_a_file_that_vanishes_while_it_is_measured_is_nobodys_trouble(work):
    assert size_of(work.folder / "nowhere") == 0


def test_copies_are_private_to_the_user_that_serves(tmp_path, monkeypatch):
    folder, owners = tmp_path / "home", []
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(privileges, "serves_as_another", lambda: True)
    monkeypatch.setattr(privileges.os, "chown", lambda path, *ids: owners.append(ids))
    privileges.let_in(folder)
    assert folder.stat().st_mode & 0o777 == 0o750
    assert owners == [(-1, privileges._ids()[1])]


def test_files_come_as_the_users_filters_make_them_and_no_program_of_the_repositorys_settings_runs(
    work, tmp_path, monkeypatch
):
    """What Git LFS keeps elsewhere comes with its filter; hooks and the like are no part of a commit."""
    ran = tmp_path / "ran"
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "of_the_user"))
    (tmp_path / "module").mkdir()
    module = type(work)(tmp_path / "module" / "it")
    module.commit(module_py="")
    # git clones no module from a folder unless it is told to
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "file")
    work.git("submodule", "--quiet", "add", str(module.folder), "module")
    work.commit(large_dat="smudged\n", _gitattributes="*.dat filter=large\n")
    work.commit()
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name, key in {
        "post-checkout": "core.hooksPath", "monitor": "core.fsmonitor", "update": "submodule.module.update",
        "signature": "gpg.program", "smudge": "filter.large.smudge",
    }.items():  # fmt: skip
        program = hooks / name
        program.write_text(f"#!/bin/sh\necho {name} >> {ran}\nexec cat\n")
        program.chmod(0o755)
        value = {"update": f"!{program}", "post-checkout": str(hooks)}.get(name, str(program))
        work.git("config", key, value)
    with pytest.raises(InputError) as refused, checkout(work):
        pass
    _, known, way_out = refused.value.message.partition("set it for yourself: ")
    assert known
    assert not ran.exists()
    subprocess.run(way_out, shell=True, check=True, cwd=work.folder)
    with checkout(work) as (tree, _):
        assert (tree / "large.dat").read_text() == "smudged\n"
        assert (tree / "module" / "module.py").exists()
    assert set(ran.read_text().split()) == {"smudge"}


LARGE = b"large" * 100


@pytest.fixture
def pointed(work, tmp_path, monkeypatch):
    """A repository whose last commit but one has a file of Git LFS, by its pointer."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "of_the_user"))
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{DIGEST}\nsize {len(LARGE)}\n"
    work.commit(a_bin=pointer, _gitattributes="*.bin filter=lfs -text\n")
    work.commit()
    for what in ("clean", "smudge", "process"):
        # as `git lfs install --local`, or anybody, sets it
        work.git("config", f"filter.lfs.{what}", f"touch {tmp_path / 'ran'}; cat")
    return work


DIGEST = hashlib.sha256(LARGE).hexdigest()


def test_a_file_of_git_lfs_comes_from_its_store_and_one_that_is_not_there_is_named(pointed, tmp_path):
    with checkout(pointed) as (tree, notes):
        assert (tree / "a.bin").read_text().startswith("version")
        assert len(notes) == 1
        assert "only Git LFS's pointers of a.bin; get the files: git lfs fetch origin" in notes[0]
    kept = pointed.folder / ".git/lfs/objects" / DIGEST[:2] / DIGEST[2:4] / DIGEST
    kept.parent.mkdir(parents=True)
    kept.write_bytes(LARGE)
    with checkout(pointed) as (tree, notes):
        assert (tree / "a.bin").read_bytes() == LARGE
        assert notes == ()
    assert not (tmp_path / "ran").exists()


def test_the_users_own_filter_makes_a_file_of_git_lfs_and_that_is_said(pointed, tmp_path):
    command = "echo noise >&2; git config filter.lfs.smudge; printf %%s: %f; wc -c"
    subprocess.run(["git", "config", "--global", "filter.lfs.smudge", command], check=True)
    with checkout(pointed) as (tree, notes):
        # it finds no settings of the user's repository
        assert (tree / "a.bin").read_text().startswith(command)
        assert (tree / "a.bin").read_text().endswith("a.bin:128\n")
        assert notes == (f"The base's a.bin came through the filter lfs of your own settings ({command}).",)
    assert not (tmp_path / "ran").exists()


def test_a_submodule_that_is_not_here_is_named_with_what_brings_it(work, tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "file")
    (tmp_path / "module").mkdir()
    module = type(work)(tmp_path / "module" / "it")
    module.commit(module_py="")
    work.git("submodule", "--quiet", "add", str(module.folder), "mod/ule")
    work.commit()
    work.commit()
    work.git("clone", "--quiet", str(work.folder), str(tmp_path / "clone"))
    clone = repository_of(tmp_path / "clone")
    with checked_out(clone, clone.revision("HEAD~1"), 1000) as (tree, notes):
        assert list((tree / "mod/ule").iterdir()) == []
        (said,) = notes
    _, _, way_out = said.partition("get it: ")
    subprocess.run(way_out.removesuffix("."), shell=True, check=True, capture_output=True)
    with checked_out(clone, clone.revision("HEAD~1"), 1000) as (tree, notes):
        assert (tree / "mod/ule/module.py").exists()
        assert notes == ()
    newer = module.commit(module_py="newer")
    work.git("-C", "mod/ule", "pull", "--quiet")
    work.commit()
    work.commit()
    subprocess.run(["git", "-C", tmp_path / "clone", "pull", "--quiet", "--no-recurse-submodules"], check=True)
    clone = repository_of(tmp_path / "clone")
    with (
        pytest.raises(InputError, match=f"submodule mod/ule at {newer[:10]}, which is not here.*fetch origin"),
        checked_out(clone, clone.revision("HEAD~1"), 1000),
    ):
        pass
