"""Files are read where that comes to an end, and folders removed whatever is in them."""

from __future__ import annotations

import os
import tempfile
import threading
from pathlib import Path

import pytest
from tests.folders import deepen

from stackrace.base.files import by_last_parts, opened, read_bytes, read_text, remove_tree, walk


def test_a_file_is_read_without_mark_and_returns(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(b"\xef\xbb\xbfa = 1\r\nb = 2\rc\n")
    assert read_text(path) == "a = 1\nb = 2\nc\n"


def test_nothing_without_an_end_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name, kind in {"pipe": "a named pipe", "zero": "a device"}.items():
        with pytest.raises(OSError, match=f"it is {kind}, not a file"):
            opened(tmp_path / name)
    with pytest.raises(IsADirectoryError):
        opened(tmp_path)


@pytest.mark.parametrize("made", ["/proc/self/status", "/proc/kmsg", "/sys/kernel/mm/transparent_hugepage/enabled"])
def test_nothing_that_the_kernel_makes_is_read(tmp_path: Path, made: str) -> None:
    if not os.access(made, os.R_OK):
        pytest.skip(f"{made} cannot be read here")
    (tmp_path / "a.yml").symlink_to(made)
    with pytest.raises(OSError, match="it is made by the kernel"):
        read_text(tmp_path / "a.yml")


def test_a_file_beyond_its_bound_is_not_held(tmp_path: Path) -> None:
    path = tmp_path / "whole"
    path.write_bytes(b"x" * 2048)
    assert len(read_bytes(path, 2048)) == 2048
    with pytest.raises(OSError, match="more than 1 KiB; is it the right file"):
        read_bytes(path, 2047)
    os.truncate(path, 1 << 40)
    with pytest.raises(OSError, match="more than 16 MiB"):
        read_bytes(path)


def test_a_pipe_of_a_shells_is_read_to_its_end() -> None:
    reading, writing = os.pipe()

    def write() -> None:
        for _ in range(64):
            os.write(writing, b"x" * 65_536)
        os.close(writing)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    try:
        assert len(read_bytes(Path(f"/dev/fd/{reading}"))) == 64 * 65_536
    finally:
        os.close(reading)
        writer.join()


CASES = {
    "the most parts that lead somewhere": ("/srv/app/conf/g.py", 1, "conf/g.py"),
    "one part": ("/app/g.py", 1, "g.py"),
    "too few parts": ("/app/g.py", 2, None),
    "nothing of it": ("/app/h.py", 1, None),
    "no way out": ("../../conf/g.py", 1, "conf/g.py"),
    "nothing at all": ("/", 1, None),
}


@pytest.mark.parametrize("case", CASES)
def test_the_last_parts_lead_there(tmp_path, case):
    (tmp_path / "conf").mkdir()
    for name in ("g.py", "conf/g.py"):
        (tmp_path / name).touch()
    given, least, expected = CASES[case]
    found = by_last_parts(given, [tmp_path], Path.is_file, least)
    assert found == (None if expected is None else tmp_path / expected)


@pytest.fixture
def place():
    """A folder of an ordinary user's, whom we are as long as the test lasts."""
    folder = Path(tempfile.mkdtemp())
    user = os.geteuid()
    if user == 0:
        os.chown(folder, 65534, 65534)
        os.seteuid(65534)
    yield folder
    os.seteuid(user)
    folder.rmdir()


@pytest.mark.parametrize("mode", [0o000, 0o400, 0o500, 0o100, 0o200])
def test_a_folder_without_rights_is_removed_with_what_it_holds(place, mode):
    inner = place / "run" / "locked" / "inner"
    inner.mkdir(parents=True)
    (inner / "file").touch(0o400)
    for folder in (inner, inner.parent, place / "run"):
        folder.chmod(mode)
    remove_tree(place / "run")
    assert not list(place.iterdir())


def test_any_depth_is_removed_with_few_descriptors(place):
    deepen(place)
    remove_tree(place / "deep")
    assert not list(place.iterdir())


def test_links_are_removed_and_not_followed(place):
    (place / "precious").mkdir()
    (place / "precious" / "file").touch()
    (place / "run").mkdir()
    (place / "run" / "out").symlink_to("../precious")
    (place / "run" / "loop").symlink_to("loop")
    remove_tree(place / "run")
    (place / "run").symlink_to("precious")
    remove_tree(place / "run")
    assert (place / "precious" / "file").exists()
    (place / "run").unlink()
    remove_tree(place / "precious")


def test_what_is_not_there_or_is_no_folder_is_left_alone(place):
    remove_tree(place / "nowhere" / "run")
    (place / "file").touch()
    remove_tree(place / "file")
    (place / "file").unlink()


@pytest.mark.exhaustive
def test_any_depth_is_walked_through(place):
    made = [place / "run", *((place / "run").joinpath(*"d" * depth) for depth in range(1, 1500))]
    for folder in made:
        folder.mkdir()
    (made[-1] / "loop").symlink_to("loop")
    (made[-1] / "up").symlink_to("..")
    assert [Path(folder) for folder, _, _ in walk(place / "run")] == made
    assert [*walk(place / "run")][-1][1:] == (["up"], ["loop"])
    remove_tree(place / "run")
