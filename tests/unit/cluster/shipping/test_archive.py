"""Archives of the same content are the same, and hold what was packed."""

import os
from pathlib import Path

import pytest

from stackrace.base.errors import InputError
from stackrace.features.cluster.shipping import archive
from stackrace.features.cluster.shipping.archive import PIECE_BYTES, Content, digest_of, pieces
from stackrace.features.cluster.shipping.selection import files_below
from stackrace.features.cluster.shipping.unpacking import unpack

ODD = "a name, with \udcff and ünicode " + "x" * 120


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "project"
    (root / "empty").mkdir(parents=True)
    (root / "app.py").write_text("app = None\n")
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o750)
    (root / "pages").mkdir()
    (root / "pages" / ODD).write_text("odd")
    (root / "link").symlink_to("pages")
    (root / "pages" / "absolute").symlink_to(root / "app.py")
    return root


def content(root, **more):
    return Content(names=tuple(files_below(root)), roots=(root,), **more)


def packed(whole, folder):
    path = folder / "archive"
    path.write_bytes(b"".join(pieces(whole)))
    return path


def unpacked(whole, folder):
    (folder / "unpacked").mkdir()
    unpack(packed(whole, folder), folder / "unpacked")
    return folder / "unpacked"


def test_what_is_packed_is_unpacked_with_links_and_executable_bits(project, tmp_path):
    there = unpacked(content(project), tmp_path).joinpath(*project.parts[1:])
    assert (there / "app.py").read_text() == "app = None\n"
    assert (there / "run.sh").stat().st_mode & 0o777 == 0o755
    assert (there / "app.py").stat().st_mode & 0o777 == 0o644
    assert (there / "pages" / ODD).read_text() == "odd"
    assert (there / "empty").is_dir()
    assert (there / "link").readlink() == Path("pages")
    # one that is absolute leads to what was sent, wherever that is
    assert (there / "pages" / "absolute").readlink() == Path("../app.py")


def test_the_same_content_has_the_same_digest_whenever_and_by_whomever_it_was_made(project):
    before = digest_of(content(project))
    os.utime(project / "app.py", (1, 1))
    (project / "app.py").chmod(0o600)
    (project / "run.sh").chmod(0o700)
    assert digest_of(content(project)) == before


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "app.py").write_text("app = True\n"),
        lambda root: (root / "app.py").rename(root / "app2.py"),
        lambda root: (root / "app.py").chmod(0o755),
        lambda root: (root / "new").mkdir(),
        lambda root: ((root / "link").unlink(), (root / "link").symlink_to("empty")),
    ],
    ids=["content", "name", "executable", "folder", "link"],
)
def test_other_content_has_another_digest(project, change):
    before = digest_of(content(project))
    change(project)
    assert digest_of(content(project)) != before


def test_pieces_have_a_bounded_size_and_make_up_the_whole(project):
    (project / "large").write_bytes(os.urandom(2 * PIECE_BYTES + 5))
    sizes = [len(piece) for piece in pieces(content(project))]
    assert sizes[:-1] == [PIECE_BYTES] * (len(sizes) - 1)
    assert len(sizes) == 3
    assert sum(sizes) == digest_of(content(project))[1]


def test_a_link_that_leads_elsewhere_is_known_and_in_environments_replaced_by_what_it_leads_to(project, tmp_path):
    outside = tmp_path / "outside.txt"
    outside.write_text("outside")
    (project / "out").symlink_to("../outside.txt")
    assert list(content(project).stray()) == [(project / "out", "../outside.txt")]
    followed = content(project, follow=True)
    assert not list(followed.stray())
    there = unpacked(followed, tmp_path).joinpath(*project.parts[1:])
    assert not (there / "out").is_symlink()
    assert (there / "out").read_text() == "outside"


def test_a_file_that_cannot_be_read_is_named_with_the_way_out(project, monkeypatch):
    def forbidden(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(archive, "opened", forbidden)
    with pytest.raises(InputError, match=r"app\.py cannot be read.*Permission denied; give yourself the right"):
        digest_of(content(project))


def test_a_file_that_vanishes_or_shrinks_meanwhile_is_named(project, monkeypatch):
    whole = content(project)
    (project / "run.sh").unlink()
    with pytest.raises(InputError, match=r"run\.sh changed while it was packed"):
        digest_of(whole)


def test_sockets_and_pipes_are_left_out(project):
    before = digest_of(content(project))
    os.mkfifo(project / "pipe")
    assert digest_of(content(project)) == before
