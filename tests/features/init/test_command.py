"""Where a race file is written."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

from stackrace.base.errors import InputError
from stackrace.cli.stdio import refuse_unwritable
from stackrace.features.init.command import _written, command, write_race_file


def test_a_link_stays_one_and_what_it_names_is_replaced(tmp_path) -> None:
    (tmp_path / "real.toml").write_text("old")
    (tmp_path / "race.toml").symlink_to("real.toml")
    write_race_file("new", tmp_path / "race.toml")
    assert (tmp_path / "race.toml").is_symlink()
    assert (tmp_path / "real.toml").read_text() == "new"
    assert len(list(tmp_path.iterdir())) == 2


def test_a_pipe_is_written_to_as_it_is(tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    reader.start()
    write_race_file("new", tmp_path / "pipe")
    reader.join()
    assert read == ["new"]


def test_a_shells_pipe_is_no_full_disk() -> None:
    reading, writing = os.pipe()
    try:
        refuse_unwritable("--output", Path(f"/dev/fd/{writing}"))
    finally:
        os.close(reading)
        os.close(writing)


@pytest.mark.parametrize(
    ("word", "right"),
    [
        ("nowhere", "name the app's folder with --project nowhere, or the file to write with --output race.toml"),
        ("my shop", "--project 'my shop'"),
        ("races/shop.toml", "to write there, give --output races/shop.toml"),
        ("shop:make()", "did you mean --wsgi 'shop:make()'?"),
        ("http://127.0.0.1:8000/", "name that with --project FOLDER"),
    ],
)
def test_a_word_without_a_flag_gets_one(word: str, right: str) -> None:
    done = CliRunner().invoke(command, [word])
    assert isinstance(done.exception, InputError)
    assert right in done.exception.message


def test_a_file_without_a_page_is_not_to_be_raced_yet() -> None:
    assert _written(Path("race.toml"), 1) == "race.toml is written: 1 page to race. Next: stackrace run race.toml"
    assert _written(Path("race.toml"), 0).endswith("Next: name pages in it that answer with success")
