"""Hostile archives are refused, and write nothing outside of their folder."""

import io
import tarfile

import pytest

from stackrace.base.errors import InputError
from stackrace.features.cluster.shipping.unpacking import unpack


def member(name, kind=tarfile.REGTYPE, link="", data=b"evil"):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    info.size = len(data) if kind == tarfile.REGTYPE else 0
    return info, io.BytesIO(data)


HOSTILE = {
    "absolute": [member("/tmp/evil")],
    "above": [member("../evil")],
    "above within": [member("a/../../evil")],
    "itself": [member(".")],
    "absolute link": [member("link", tarfile.SYMTYPE, "/etc")],
    "link above": [member("a/link", tarfile.SYMTYPE, "../../outside")],
    "links that add up": [
        member("p/down", tarfile.SYMTYPE, ".."),
        member("p/q/link", tarfile.SYMTYPE, "../down/../outside"),
    ],
    "hard link": [member("hard", tarfile.LNKTYPE, "/etc/passwd")],
    "device": [member("null", tarfile.CHRTYPE)],
    "pipe": [member("pipe", tarfile.FIFOTYPE)],
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "outside").mkdir()
    folder = tmp_path / "in"
    folder.mkdir()
    return folder


def archive(folder, members):
    path = folder.parent / "archive"
    with tarfile.open(path, "w") as file:
        for info, content in members:
            file.addfile(info, content)
    return path


@pytest.mark.parametrize("members", HOSTILE.values(), ids=HOSTILE)
def test_what_leads_out_is_refused(folder, members):
    with pytest.raises(InputError, match="is refused, for"):
        unpack(archive(folder, members), folder)
    assert not [path for path in folder.parent.rglob("*") if path.is_file() and path.name != "archive"]


def test_nothing_is_written_through_a_link_of_an_earlier_archive(folder):
    (folder / "link").symlink_to(folder.parent / "outside")
    with pytest.raises(InputError, match="lies behind a link"):
        unpack(archive(folder, [member("link/evil")]), folder)
    assert not list((folder.parent / "outside").iterdir())


def test_a_link_is_made_after_what_would_lie_behind_it(folder):
    with pytest.raises((InputError, OSError)):
        unpack(archive(folder, [member("link", tarfile.SYMTYPE, ".."), member("link/evil")]), folder)
    assert not (folder.parent / "evil").exists()


def test_no_rights_but_to_execute_come_along(folder):
    info, data = member("run")
    info.mode = 0o6777
    unpack(archive(folder, [(info, data)]), folder)
    assert (folder / "run").stat().st_mode & 0o7777 == 0o755


def test_what_is_no_archive_is_named(folder):
    path = folder.parent / "archive"
    path.write_bytes(b"no archive at all" * 100)
    with pytest.raises(InputError, match="is no archive"):
        unpack(path, folder)
