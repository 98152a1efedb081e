"""A process that is restricted writes nowhere below closed folders, and everywhere else, as does all it starts."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from stackrace.base.process.landlock import restricts

pytestmark = pytest.mark.skipif(not restricts(), reason="the kernel has no Landlock")

TRIES = """
import json, os, sys
from pathlib import Path

from stackrace.base.process.landlock import restrict

closed, kept, beside = map(Path, sys.argv[1:])
restrict([str(closed)], [str(kept)])


def tried(action):
    try:
        action()
    except OSError as error:
        return type(error).__name__
    return "done"


actions = {
    "new": lambda folder: (folder / "new").write_text("x"),
    "append": lambda folder: (folder / "there").open("a").write("x"),
    "truncate": lambda folder: os.truncate(folder / "there", 0),
    "folder": lambda folder: (folder / "folder").mkdir(),
    "link": lambda folder: (folder / "link").symlink_to("there"),
    "hard link": lambda folder: os.link(folder / "there", folder / "hard"),
    "pipe": lambda folder: os.mkfifo(folder / "pipe"),
    "rename": lambda folder: (folder / "there").rename(folder / "moved"),
    "remove": lambda folder: next(folder.glob("[tm]*e*")).unlink(),
    "remove a folder": lambda folder: (folder / "inner").rmdir(),
}
folders = closed, kept, beside
said = {name: [tried(lambda: action(folder)) for folder in folders] for name, action in actions.items()}
with open("/dev/null", "w") as nothing:
    nothing.write("x")
(kept / "across").write_text("x")
said["out of a kept folder"] = [tried(lambda: (kept / "across").rename(beside / "across"))]
print(json.dumps(said))
"""


def test_nothing_is_written_below_a_closed_folder_but_all_that_is_kept(tmp_path):
    closed, beside = tmp_path / "closed", tmp_path / "beside"
    kept = closed / "kept"
    for folder in (closed, kept, beside):
        (folder / "inner").mkdir(parents=True)
        (folder / "there").write_text("there")
    before = sorted(closed.iterdir())
    done = subprocess.run(
        [sys.executable, "-c", TRIES, closed, kept, beside], capture_output=True, text=True, check=True
    )
    for name, said in json.loads(done.stdout).items():
        assert said == (["PermissionError", "done", "done"] if len(said) == 3 else ["done"]), name
    assert sorted(closed.iterdir()) == before
    assert (closed / "there").read_text() == "there"


CHILD = """
import subprocess, sys
from stackrace.base.process.landlock import restrict

restrict([sys.argv[1]], [])
sys.exit(subprocess.run(["sh", "-c", f"echo x > {sys.argv[1]}/x"], stderr=subprocess.DEVNULL).returncode)
"""


def test_what_it_starts_is_restricted_as_well(tmp_path):
    assert subprocess.run([sys.executable, "-c", CHILD, tmp_path], check=False).returncode
    assert not list(tmp_path.iterdir())


def test_files_beside_the_folders_on_the_way_are_written_to(tmp_path):
    (tmp_path / "file").write_text("there")
    closed = tmp_path / "closed"
    closed.mkdir()
    program = (
        "import sys; from stackrace.base.process.landlock import restrict; restrict([sys.argv[1]], []);"
        "open(sys.argv[2], 'a').write('x')"
    )
    subprocess.run([sys.executable, "-c", program, closed, tmp_path / "file"], check=True)
    assert (tmp_path / "file").read_text() == "therex"
