"""Files of users: what is read of them, and where a project has them."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from stackrace.base.files import by_last_parts, opened, read_bytes, read_text


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
