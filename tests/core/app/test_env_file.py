"""Variables out of .env files."""

import pytest

from stackrace.app.environment import read_env_files
from stackrace.base.errors import InputError


def test_quotes_export_comments_and_references_are_understood(tmp_path):
    path = tmp_path / ".env"
    path.write_text("# comment\nexport A=1\nB='x # y'\nC=\"${A}2\"  # more\nEMPTY=\nNOTHING\n")
    assert read_env_files([path]) == {"A": "1", "B": "x # y", "C": "12", "EMPTY": ""}


def test_a_later_file_wins(tmp_path):
    (tmp_path / "a").write_text("A=1\nB=1\n")
    (tmp_path / "b").write_text("B=2\n")
    assert read_env_files([tmp_path / "a", tmp_path / "b"]) == {"A": "1", "B": "2"}


@pytest.mark.parametrize("content", [b"A=1\n=what\n", b"A=1\nB='x\n", b"A=\0\n", b"\xff\xfe"])
def test_a_file_that_is_none_names_the_key(tmp_path, content):
    (tmp_path / ".env").write_bytes(content)
    with pytest.raises(InputError, match=r"--env-file.*\[app\] env_file"):
        read_env_files([tmp_path / ".env"])


def test_a_file_that_is_not_there_names_the_key(tmp_path):
    with pytest.raises(InputError, match="--env-file"):
        read_env_files([tmp_path / "nowhere"])
