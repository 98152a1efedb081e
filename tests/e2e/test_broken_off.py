"""What breaks while a race runs: a sentence, an exit code that blames nobody's input, and how to go on."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import BRIEF, STACKRACE
from tests.http_servers import APP
from tests.raced import wait_until_nothing_is_left

ASKED = ["run", "--wsgi", "tiny:app", "--python", sys.executable, "-c", "1", "--stack", "waitress"]
ASKED += ["--stack", "cheroot", "--no-twin", "--requests", "20", "--repeats", "1000"]


@pytest.fixture
def project(tmp_path):
    (tmp_path / "tiny.py").write_text(APP)
    return tmp_path


def racing(project, folder, temporary):
    """A race with a block behind it: the process, and what it has said."""
    process = subprocess.Popen(
        [*BRIEF, *ASKED],
        cwd=project,
        env=os.environ | {"XDG_DATA_HOME": str(folder), "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    said = []
    for line in process.stdout:
        said.append(line)
        if line.startswith("block 2"):
            break
    return process, said


def goes_on(command, project, folder):
    """Tell whether the race goes on by ``command``, and leave it at that."""
    process = subprocess.Popen(
        [str(STACKRACE), *command.split()],
        cwd=project,
        env=os.environ | {"XDG_DATA_HOME": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    first = process.stderr.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=1800)
    return "going on with race" in first


def end_of(process, said):
    rest, _ = process.communicate(timeout=1800)
    return "".join(said) + rest


def supervisor_of(pid):
    for each in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = (each / "cmdline").read_bytes() if each.name.isdigit() else b""
            if b"supervisor.py" in words and f"PPid:\t{pid}\n" in (each / "status").read_text():
                return int(each.name)
    raise LookupError("no supervisor")


@pytest.mark.exhaustive
def test_a_killed_supervisor_is_no_wrong_input_and_the_race_goes_on(project, tmp_path, temporary):
    process, said = racing(project, tmp_path / "data", temporary)
    os.kill(supervisor_of(process.pid), signal.SIGKILL)
    text = end_of(process, said)
    assert process.returncode == 4, text
    assert "Traceback" not in text
    command = re.search(r"error: the supervisor was killed.*continue with: stackrace (run --resume \w+)", text)[1]
    wait_until_nothing_is_left(temporary)
    assert goes_on(command, project, tmp_path / "data")


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a disk of two megabytes."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip("needs the right to mount")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.exhaustive
def test_a_full_disk_is_no_wrong_input_and_the_race_goes_on(project, small_disk, temporary):
    process, said = racing(project, small_disk, temporary)
    filler = small_disk / "filler"
    with contextlib.suppress(OSError), filler.open("wb") as file:
        while True:
            file.write(b"x" * 4096)
            file.flush()
    text = end_of(process, said)
    assert process.returncode == 4, text
    assert "Traceback" not in text
    command = re.search(r"continue with: stackrace (run --resume \w+)", text)[1]
    filler.unlink()
    assert goes_on(command, project, small_disk)
