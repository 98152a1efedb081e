"""A text names the files on the host wherever it named the user's, and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackrace.deploy.app_files import Relocation
from stackrace.features.cluster.shipping.texts import relocate_below, relocated

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
    assert relocated(MOVED, text) == moved
    assert relocated(MOVED, moved) == moved, "what was moved stays"
    assert MOVED.original(moved) == text


def test_settings_and_links_below_it_name_copies_and_other_files_are_as_they_were(tmp_path):
    relocation = Relocation(tmp_path / "copy").with_copies(tmp_path / "site")
    copy = relocation.path(tmp_path / "site")
    copy.mkdir(parents=True)
    for name in ("settings.py", "image.bin"):
        (copy / name).write_text(f"{tmp_path}/site\n")
    (copy / "link").symlink_to(tmp_path / "site" / "settings.py")
    relocate_below(relocation)
    assert (copy / "settings.py").read_text() == f"{copy}\n"
    assert (copy / "image.bin").read_text() == f"{tmp_path}/site\n"
    assert (copy / "link").readlink() == copy / "settings.py"
