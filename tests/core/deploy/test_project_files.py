"""A copy of a project holds what an app may write to, links to what it only reads, and is found by every path."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from tests.folders import deepen

from stackrace.app.app import App, Entry, EntryKind
from stackrace.base.files import remove_tree
from stackrace.base.process.view import Relocation
from stackrace.deploy import protection, sqlite_files
from stackrace.deploy.project_data import copy_below, copy_size_bytes
from stackrace.deploy.sqlite_files import _copy_file


@pytest.fixture
def site(tmp_path):
    root = tmp_path / "site"
    for folder in (
        "code",
        ".venv/bin",
        ".git/objects",
        "node_modules/vue",
        "node_modules/.cache",
        "__pycache__",
        "run",
    ):
        (root / folder).mkdir(parents=True)
        (root / folder / "file").write_text(folder)
    (root / ".venv/pyvenv.cfg").touch()
    (root / ".git/HEAD").write_text("ref")
    (root / "settings.py").write_text(f"BASE = '{root}'\n")
    (root / "image.bin").write_text(f"{root}\n")
    (root / "inner").symlink_to("code/file")
    (root / "absolute").symlink_to(root / "code")
    (root / "outer").symlink_to("../beside")
    (tmp_path / "beside").mkdir()
    return root


def copied(root, place, *more):
    relocation = Relocation(place).with_copies(root, *more)
    for path in (root, *more):
        copy_below(relocation, path, {root / "run"})
    return relocation.path(root)


def test_it_holds_files_as_they_were_links_to_environments_and_no_caches(site, tmp_path):
    copy = copied(site, tmp_path / "copy")
    assert (copy / "code/file").read_text() == "code"
    assert (copy / "settings.py").read_text() == f"BASE = '{site}'\n"
    assert (copy / "image.bin").read_text() == f"{site}\n"
    assert (copy / "code/file").stat().st_mtime_ns == (site / "code/file").stat().st_mtime_ns
    assert (copy / ".venv").readlink() == site / ".venv"
    assert (copy / ".git/objects").readlink() == site / ".git/objects"
    assert not (copy / ".git/HEAD").is_symlink()
    assert (copy / "node_modules/vue").readlink() == site / "node_modules/vue"
    assert not (copy / "node_modules/.cache").exists()
    assert not (copy / "__pycache__").exists()
    assert not (copy / "run").exists()


def test_its_links_lead_to_copies(site, tmp_path):
    copy = copied(site, tmp_path / "copy")
    assert (copy / "inner").readlink() == Path("code/file")
    assert (copy / "absolute").readlink() == copy / "code"
    assert (copy / "outer").readlink() == tmp_path / "beside"
    copy = copied(site, tmp_path / "again", tmp_path / "beside")
    assert (copy / "outer").resolve() == Path(f"{tmp_path}/again{tmp_path}/beside")


def test_a_folder_that_forbids_writing_is_copied_and_a_socket_and_a_pipe_are_linked(tmp_path):
    root = tmp_path / "site"
    (root / "closed").mkdir(parents=True)
    (root / "closed" / "file").touch()
    (root / "closed").chmod(0o500)
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(root)
        listening.bind("s")
        os.chdir(here)
        copy = copied(root, tmp_path / "copy")
    assert (copy / "s").readlink() == root / "s"
    assert (copy / "pipe").readlink() == root / "pipe"
    assert (copy / "closed").stat().st_mode & 0o777 == 0o500
    assert (copy / "closed/file").exists()


def test_what_changes_all_the_time_is_named_but_not_what_grows(site, tmp_path, monkeypatch):
    def copy(source, target):
        _copy_file(source, target)
        if source.name == "image.bin":
            source.write_bytes(source.read_bytes()[1:])
        if source.name == "settings.py":
            source.write_text(f"{source.read_text()}#")

    monkeypatch.setattr(sqlite_files, "_copy_file", copy)
    copied = copy_below(Relocation(tmp_path / "copy"), site, ())
    assert copied.unsteady == [site / "image.bin"]
    assert Path(f"{tmp_path}/copy{site}/image.bin").exists()


@pytest.mark.parametrize("times", [1, 2])
def test_files_that_change_after_their_copy_are_copied_again_once_and_then_named(
    site, tmp_path, monkeypatch, times
):
    """As those of a database do that is a folder: each copy is whole, and together they are of no moment."""
    database = {site / "CURRENT": "old", site / "MANIFEST": "old"}
    for path, text in database.items():
        path.write_text(text)
    done = set()

    def copy(source, target):
        nonlocal times
        _copy_file(source, target)
        if source in database:
            done.add(source)
            (other,) = database.keys() - {source}
            if other in done and times:
                times -= 1
                (tmp_path / "new").write_text("new")
                (tmp_path / "new").replace(other)

    named = times == 2
    monkeypatch.setattr(sqlite_files, "_copy_file", copy)
    copied = copy_below(Relocation(tmp_path / "copy"), site, ())
    assert (copied.unsteady, len(copied.mixed)) == ([], int(named))
    current = [Path(f"{tmp_path}/copy{path}").read_text() == path.read_text() for path in database]
    assert current.count(True) == (1 if named else 2)
    assert ["not fit together" in line for line in protection._mixed_notes(copied.mixed)] == [True] * named


def test_its_size_counts_what_is_copied_by_blocks_and_up_to_the_limit(site):
    (site / "large").write_bytes(b"x" * 100_000)
    files = [".git/HEAD", ".git/objects/file", "code/file", "settings.py", "image.bin", "run/file"]
    # the folder of Git's objects is linked
    assert copy_size_bytes([site], {site / "run"}, 10**9) == 100_000 + 4096 * (len(files) - 2)
    assert copy_size_bytes([site], (), 5000) > 5000


MOVED = Relocation(Path("/run/x/copy")).with_copies(Path("/srv/site"), Path("/srv/site/media"))


@pytest.fixture
def copied_site(tmp_path):
    """Where a project was copied to, with a file and a linked environment."""
    relocation = Relocation(tmp_path / "copy").with_copies(tmp_path / "site")
    copy = relocation.path(tmp_path / "site")
    copy.mkdir(parents=True)
    (copy / "data.db").touch()
    (copy / "env").symlink_to("/usr")
    return relocation


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("SITE", [""]),
        ("sqlite:///SITE/data.db?mode=rw", ["/data.db"]),
        ('NAME = "SITE/data.db"', ["/data.db"]),
        ("SITE:SITE/lib", [""]),
        ("SITE-old SITE.bak SITEs", []),
        ("/backupSITE", []),
        ("SITE/env/bin/python", []),
    ],
)
def test_what_a_text_names_by_its_whole_path_is_found_where_there_is_a_copy(copied_site, tmp_path, text, named):
    original = f"{tmp_path}/site"
    assert list(copied_site.originals_in(text.replace("SITE", original))) == [
        Path(f"{original}{each}") for each in named
    ]


def test_a_folder_known_by_a_link_is_moved_too(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    moved = Relocation(Path("/run/x/copy")).with_copies(tmp_path / "link")
    copy = Path(f"/run/x/copy{tmp_path}/real/a")
    assert moved.path(tmp_path / "link" / "a") == moved.path(tmp_path / "real" / "a") == copy


def test_a_value_is_restored_with_all_that_it_holds():
    app = App(
        name="site",
        root=MOVED.path(Path("/srv/site")),
        entry=Entry(kind=EntryKind.WSGI, target="a:b"),
        static={"/s/": MOVED.path(Path("/srv/site/static"))},
        prepare=(("x", "/run/x/copy/srv/site/y"),),
    )
    restored = MOVED.original(app)
    assert (restored.root, restored.static) == (Path("/srv/site"), {"/s/": Path("/srv/site/static")})
    assert restored.prepare == (("x", "/srv/site/y"),)


def test_without_copies_everything_is_its_own():
    nothing = Relocation()
    assert (nothing.path(Path("/srv/a")), list(nothing.originals_in("/srv/a")), nothing.original("/srv/a")) == (
        Path("/srv/a"), [], "/srv/a",
    )  # fmt: skip


@pytest.mark.exhaustive
def test_folders_that_no_path_can_name_are_linked_from_the_last_one_that_can(site, tmp_path):
    deepen(site / "code")
    try:
        assert protection.linked_data([site]) == (tmp_path / "beside",)
        copy = copied(site, tmp_path / "copy")
        place = copy / "code"
        while not place.is_symlink():
            place /= "deep"
        assert place.readlink() == site / place.relative_to(copy)
    finally:
        # pytest itself removes none so deep
        remove_tree(site)
        remove_tree(tmp_path / "copy")
