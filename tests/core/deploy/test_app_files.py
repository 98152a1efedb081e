"""A path leads to its copy, and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackrace.app.app import App, Entry, EntryKind
from stackrace.deploy.app_files import Relocation

MOVED = Relocation(Path("/run/x/copy")).with_copies(Path("/srv/site"), Path("/srv/site/media"))


@pytest.fixture
def site(tmp_path):
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
def test_what_a_text_names_by_its_whole_path_is_found_where_there_is_a_copy(site, tmp_path, text, named):
    original = f"{tmp_path}/site"
    assert list(site.named(text.replace("SITE", original))) == [Path(f"{original}{each}") for each in named]


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
    assert (nothing.path(Path("/srv/a")), list(nothing.named("/srv/a")), nothing.original("/srv/a")) == (
        Path("/srv/a"), [], "/srv/a",
    )  # fmt: skip
