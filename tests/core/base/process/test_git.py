"""A repository is read whatever it brings along: odd files, formats and settings."""

import os
import subprocess
from pathlib import Path

import pytest
from tests.hostile import WHO, give_away

from stackrace.base.errors import RepositoryError
from stackrace.base.process import repository


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return folder


def git(folder, *words):
    done = subprocess.run(["git", "-C", folder, *WHO, *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def shop(tmp_path):
    folder = tmp_path / "shop"
    (folder / "deep/er").mkdir(parents=True)
    (folder / "deep/er/app.py").write_text("app = 1\n")
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "first")
    return folder


def asked(folder):
    """Ask all that any verb asks."""
    found = repository(folder)
    return found.head, found.commit("HEAD~1"), found.fork_point("main"), found.status(), found.tracked()


ODD = (
    ".gitignore", ".gitattributes", ".gitmodules", "deep/er/.gitignore", "deep/er/.gitattributes", ".git/HEAD",
    ".git/config", ".git/index", ".git/packed-refs", ".git/shallow", ".git/commondir", ".git/info/exclude",
    ".git/info/attributes", ".git/objects/info/alternates", ".git/refs/heads/main", ".git",
)  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_a_named_pipe_is_not_waited_for_but_named(shop, name):
    path = shop / name
    if name == ".git":
        path.rename(shop / "elsewhere")
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    os.utime(shop / "deep/er/app.py", (1, 1))
    with pytest.raises(RepositoryError, match=f"{path} cannot be read: it is a named pipe"):
        asked(shop / "deep")


def test_a_named_pipe_among_the_objects_is_named(shop):
    tree = git(shop, "rev-parse", "HEAD^{tree}")
    path = shop / ".git/objects" / tree[:2] / tree[2:]
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(RepositoryError, match=f"{path} cannot be read: it is a named pipe"):
        asked(shop)


@pytest.mark.parametrize("key", ["include.path", "core.excludesFile", "core.attributesFile"])
def test_a_named_pipe_that_settings_name_is_named(shop, key):
    os.mkfifo(shop / ".git/pipe")
    git(shop, "config", key, str(shop / ".git/pipe"))
    with pytest.raises(RepositoryError, match=r"\.git/pipe cannot be read: it is a named pipe"):
        asked(shop)


def listing(folder):
    return {
        str(path): (path.lstat().st_mtime_ns, path.lstat().st_ctime_ns, path.lstat().st_size)
        for path in (folder, *folder.rglob("*"))
    }


def test_nothing_in_a_repository_changes(shop, tmp_path):
    # a work tree whose index could be refreshed
    os.utime(shop / "deep/er/app.py", (1, 1))
    before = listing(shop)
    found = repository(shop)
    asked(shop)
    found.write_out(found.head, tmp_path / "tree", tmp_path / "git")
    assert listing(shop) == before


def test_settings_that_lead_to_another_folder_are_refused(shop, tmp_path):
    git(shop, "config", "core.worktree", str(tmp_path / "home"))
    with pytest.raises(RepositoryError, match=r"shop/\.git/config: its core\.worktree is .*home"):
        asked(shop)


def test_a_bare_repository_has_no_work_tree(shop):
    git(shop, "config", "core.bare", "true")
    with pytest.raises(RepositoryError, match="bare repository, without a work tree"):
        asked(shop)


@pytest.mark.parametrize(
    ("key", "value"), [("extensions.objectFormat", "sha256"), ("extensions.refStorage", "reftable")]
)
def test_formats_that_libgit2_does_not_know_are_named(shop, key, value):
    git(shop, "config", "core.repositoryFormatVersion", "1")
    git(shop, "config", key, value)
    with pytest.raises(RepositoryError, match=f"{shop} cannot be read: .*({value}|{key.lower()})"):
        asked(shop)


def test_another_users_repository_is_refused_until_it_is_trusted(shop):
    give_away(shop)
    with pytest.raises(RepositoryError) as refused:
        asked(shop)
    _, _, way_out = refused.value.message.partition("if you trust it: ")
    subprocess.run(way_out, shell=True, check=True)
    assert asked(shop)[0]


def test_worktrees_and_sparse_checkouts_are_read(shop, tmp_path):
    (shop / "other").mkdir()
    (shop / "other/b.py").write_text("b = 1\n")
    git(shop, "add", ".")
    git(shop, "commit", "--quiet", "-m", "second")
    git(shop, "worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"), "HEAD~1")
    assert repository(tmp_path / "linked").head == git(shop, "rev-parse", "HEAD~1")
    git(shop, "sparse-checkout", "set", "other")
    assert not (shop / "deep").exists()
    assert repository(shop).status().changed == ()


def test_what_a_partial_clone_lacks_is_said(shop, tmp_path):
    git(shop, "config", "uploadpack.allowFilter", "true")
    (shop / "deep/er/app.py").write_text("app = 2\n")
    git(shop, "commit", "--quiet", "-am", "second")
    git(tmp_path, "clone", "--quiet", "--filter=blob:none", shop.as_uri(), "clone")
    found = repository(tmp_path / "clone")
    assert found.status().changed == ()
    with pytest.raises(FileNotFoundError):
        found.write_out(found.commit("HEAD~1"), tmp_path / "tree", tmp_path / "git")
    git(tmp_path / "clone", "fetch", "--quiet", "--refetch", "--no-filter")
    found.write_out(found.commit("HEAD~1"), tmp_path / "again", tmp_path / "git-2")
    assert (tmp_path / "again/deep/er/app.py").read_text() == "app = 1\n"


def test_files_are_written_as_git_writes_them(shop, tmp_path):
    """Line ends, ``$Id$``, links, modes and names of any letters, by attributes of any folder."""
    (shop / ".gitattributes").write_text("*.t text eol=crlf\n*.i ident\n")
    (shop / "deep/.gitattributes").write_text("*.u text eol=crlf\n")
    for name in ("!a.t", "z.t", "x.i", "deep/!a.u", "deep/z.u", "ü ".encode().decode(), os.fsdecode(b"\xff.py")):
        (shop / name).write_text("$Id$\none\ntwo\n")
    (shop / "run.sh").write_text("#!/bin/sh\n")
    (shop / "run.sh").chmod(0o755)
    (shop / "link").symlink_to("run.sh")
    git(shop, "add", ".")
    git(shop, "commit", "--quiet", "-m", "second")
    git(shop, "worktree", "add", "--quiet", str(tmp_path / "by-git"))
    found = repository(shop)
    found.write_out(found.head, tmp_path / "by-us", tmp_path / "git")

    def content(top):
        paths = [path for path in Path(top).rglob("*") if path.name != ".git" and not path.is_dir()]
        what = (path.readlink() if path.is_symlink() else path.read_bytes() for path in paths)
        return {
            str(path.relative_to(top)): (path.lstat().st_mode, held) for path, held in zip(paths, what, strict=True)
        }

    assert content(tmp_path / "by-us") == content(tmp_path / "by-git")
    assert repository(tmp_path / "by-us").status().changed == ()


def test_a_file_that_git_lfs_made_is_unchanged_by_its_pointer(shop):
    content, other = b"large" * 100, b"other" * 100
    digest = subprocess.run(["sha256sum"], input=content, capture_output=True, check=True).stdout[:64].decode()
    (shop / ".gitattributes").write_text("*.bin filter=lfs -text\n")
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(content)}\n"
    (shop / "a.bin").write_text(pointer)
    git(shop, "add", ".")
    git(shop, "commit", "--quiet", "-m", "second")
    (shop / "a.bin").write_bytes(content)
    assert repository(shop).status().changed == ()
    (shop / "a.bin").write_bytes(other)
    assert repository(shop).status().changed == ("a.bin",)
