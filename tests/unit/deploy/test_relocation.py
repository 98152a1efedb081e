"""A path leads to a copy wherever a text names the original, and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackrace.app.app import App, Entry, EntryKind
from stackrace.deploy.relocation import Relocation

MOVED = Relocation(Path("/run/x/copy")).with_copies(Path("/srv/site"), Path("/srv/site/media"))


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("/srv/site", "/run/x/copy/srv/site"),
        ("sqlite:////srv/site/data.db", "sqlite:////run/x/copy/srv/site/data.db"),
        ('NAME = "/srv/site/media/a"', 'NAME = "/run/x/copy/srv/site/media/a"'),
        ("/srv/site:/srv/site/lib", "/run/x/copy/srv/site:/run/x/copy/srv/site/lib"),
        ("/srv/site-old /srv/site.bak /srv/sites", "/srv/site-old /srv/site.bak /srv/sites"),
        ("/backup/srv/site", "/backup/srv/site"),
        ("https://www.example.com/srv/site/", "https://www.example.com/srv/site/"),
    ],
)
def test_a_text_names_copies_and_back(text, moved):
    assert MOVED.text(text) == moved
    assert MOVED.text(moved) == moved, "what was moved stays"
    assert MOVED.original(moved) == text


def test_a_folder_known_by_a_link_is_moved_too(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    moved = Relocation(Path("/run/x/copy")).with_copies(tmp_path / "link")
    copy = Path(f"/run/x/copy{tmp_path}/real/a")
    assert moved.path(tmp_path / "link" / "a") == moved.path(tmp_path / "real" / "a") == copy
    assert moved.text(f"{tmp_path}/link/a") == str(copy)


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
    assert (nothing.path(Path("/srv/a")), nothing.text("/srv/a"), nothing.original("/srv/a")) == (
        Path("/srv/a"), "/srv/a", "/srv/a",
    )  # fmt: skip
