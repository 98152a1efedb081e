"""The command that an error advises can be pasted, and mends what was wrong."""

from __future__ import annotations

import gzip
import re
import shlex
import subprocess

import pytest

from stackrace.base.errors import InputError
from stackrace.cli.stdio import refuse_unwritable
from stackrace.features.export.export_files import refuse_existing
from stackrace.features.recordings.recorded_sessions import read_steps
from stackrace.measure.resources import parse_cores
from stackrace.race.preparation.core_shares import split_cores

LINE = b'192.0.2.7 - - [10/Oct/2026:13:55:36 +0000] "GET /a HTTP/1.1" 200 2326\n'


def pasted(message: str, program: str) -> None:
    """Run the command of ``program`` in ``message``, as a user would who copies it."""
    command = message[message.index(f"{program} ") :].partition(" or ")[0]
    assert shlex.split(command)
    subprocess.run(["sh", "-c", command], check=True, capture_output=True, timeout=600)


@pytest.mark.parametrize(
    "look",
    [lambda folder: refuse_unwritable("--html", folder / "a.html"),
     lambda folder: refuse_existing(folder / "deploy", force=False)],
    ids=["a report", "an export"],
)  # fmt: skip
def test_a_folder_that_is_missing_is_made(tmp_path, look):
    folder = tmp_path / "it's new"
    with pytest.raises(InputError) as refused:
        look(folder)
    pasted(refused.value.message, "mkdir")
    look(folder)


def test_a_compressed_log_is_unpacked(tmp_path):
    log = tmp_path / "my access.log.gz"
    log.write_bytes(gzip.compress(LINE))
    with pytest.raises(ValueError) as refused:
        read_steps(log)
    pasted(str(refused.value), "gunzip")
    assert len(read_steps(log.with_suffix("")).steps) == 1


CORES = ((0,), (1,), (2,), (3,))


@pytest.mark.parametrize(
    ("stacks", "engine"), [((0, 1, 2, 3), (3,)), ((0, 1, 2, 3), None), (None, (0, 1, 2, 3))], ids=str
)
def test_cores_that_are_taken_are_left_out(stacks, engine):
    with pytest.raises(InputError) as refused:
        split_cores(CORES, stacks, engine)
    flag, cores = re.findall(r": (--[\w-]+) ([\d,-]+)$", refused.value.message)[0]
    given = parse_cores(cores)
    split_cores(CORES, *((given, engine) if flag == "--cores" else (stacks, given)))
