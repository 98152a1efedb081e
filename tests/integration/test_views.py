"""A folder that is covered stays as it is, whatever is done in it; afterwards nothing of the cover is left."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stackrace.base.errors import LaunchError
from stackrace.deploy.guard import Guard


def inside(guard, folder, script):
    """Run ``script`` in a shell as the app's own commands are run; returns its output."""
    done = subprocess.run(
        ["sh", "-ec", script],
        preexec_fn=guard.view.entering(folder),
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.fixture
def folder(tmp_path):
    """A project with a file and a folder in it; its name holds what separates the options of a mount."""
    folder = tmp_path / "a, b:c\\d é"
    (folder / "sub").mkdir(parents=True)
    (folder / "file").write_text("before")
    return folder


def content(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
        if not path.is_socket()
    }


def test_what_is_written_in_a_covered_folder_is_seen_by_all_who_run_in_it_and_by_nobody_else(guard, folder):
    before = content(folder)
    guard.cover([folder])
    log = guard.directory / "log"
    script = "echo after > file; echo new > new; rm -r sub; echo done"
    pid = guard.spawn(
        ["sh", "-ec", script],
        view=guard.view,
        environment=dict(os.environ),
        folder=folder,
        log=log,
        stop=signal.SIGTERM,
    )
    while guard.status([pid])[pid].code is None:
        time.sleep(0.01)
    assert log.read_text() == "done\n"
    assert inside(guard, folder, "ls; cat file") == "file\nnew\nafter\n"
    assert guard.view.path(folder / "new").read_text() == "new\n"
    assert content(folder) == before


def test_a_folder_is_covered_beside_those_that_are(guard, folder, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    guard.cover([folder])
    guard.cover([other])
    inside(guard, folder, f"echo x > {other}/x; echo x > x; chmod 500 sub; test -e {other}/x")
    assert not (folder / "x").exists()
    assert not (other / "x").exists()


def test_a_folder_around_one_that_is_covered_and_around_the_run_directory_is_covered(temporary, monkeypatch):
    """As /tmp may be: what was written in the inner one before stays there to be seen."""
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    site = temporary / "site"
    site.mkdir()
    with Guard() as guard:
        guard.cover([site])
        inside(guard, site, "echo x > x")
        guard.cover([temporary])
        said = inside(guard, site, f"cat x; echo y > y; echo z > ../z; echo w > {guard.directory}/w; cat y ../z")
        assert said == "x\ny\nz\n"
        assert (guard.directory / "w").exists()
        assert sorted(temporary.iterdir()) == sorted([site, guard.directory])
    assert not list(site.iterdir())


def test_the_run_directory_may_lie_in_the_project(temporary, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    with Guard() as guard:
        guard.cover([temporary])
        inside(guard, temporary, f"echo x > x; echo y > {guard.directory}/y")
        assert (guard.directory / "y").read_text() == "y\n"
        assert [path.name for path in temporary.iterdir()] == [guard.directory.name]
    assert not list(temporary.iterdir())


def test_what_is_to_be_kept_is_written_to(guard, folder):
    guard.cover([folder], [folder / "sub"])
    inside(guard, folder, "echo x > sub/x; echo x > x")
    assert (folder / "sub/x").exists()
    assert not (folder / "x").exists()


def test_a_service_of_the_users_that_listens_in_the_project_is_reached(guard, tmp_path):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        listening.listen()
        guard.cover([tmp_path])
        ask = "import socket; socket.socket(socket.AF_UNIX).connect('s')"
        inside(guard, tmp_path, f'echo x > x; {sys.executable} -c "{ask}"')


GONE = """
import socket, sys
from pathlib import Path
from stackrace.base.process import namespaces

listening = socket.socket(socket.AF_UNIX)
listening.bind(str(Path("t").absolute()))
listening.listen()
overlay = namespaces.mount_overlay


def removing(*arguments):
    Path("t").unlink()
    overlay(*arguments)


namespaces.mount_overlay = removing
namespaces.separate()
namespaces.cover([(sys.argv[1], sys.argv[2])], [])
Path("x").touch()
"""


def test_a_socket_that_is_removed_meanwhile_is_no_obstacle(folder, tmp_path):
    subprocess.run([sys.executable, "-c", GONE, folder, tmp_path / "layer"], cwd=folder, check=True)


GONE_TOO = """
import os
from pathlib import Path
from stackrace.base.process import namespaces

Path("x").mkdir()
Path("x/a").touch()
Path("x/b").touch()
inside, done = os.open("x", os.O_RDONLY), namespaces.done


def removing(code):
    done(code)
    if os.path.exists(f"/proc/self/fd/{inside}/a"):
        os.unlink("a", dir_fd=inside)


namespaces.separate()
namespaces.done = removing
namespaces.rebuild(Path("x").absolute())
assert os.listdir("x") == ["b"]
"""


def test_an_entry_that_is_removed_meanwhile_is_no_obstacle(folder):
    subprocess.run([sys.executable, "-c", GONE_TOO], cwd=folder, check=True)


MOUNTED = """
import os, subprocess, sys
from pathlib import Path
from stackrace.base.process import namespaces

namespaces.separate()
for folder in ("odd", "gone", "removed"):
    Path(folder).mkdir()
run = lambda *words: subprocess.run(words, check=True)
run("mount", "--rbind", "/proc", "odd")
run("mount", "-t", "tmpfs", "none", "sub")
Path("sub/inner").write_text("before")
run("mount", "-t", "tmpfs", "none", "gone")
run("mount", "-t", "tmpfs", "none", "removed")
run("mount", "--bind", "sub/inner", "file")
found, overlay = namespaces._mounts_below, namespaces.mount_overlay
own = os.open("sub/inner", os.O_PATH)


def seen(folder):
    mounts = found(folder)
    run("umount", "gone")
    Path("gone").rmdir()
    return mounts


def covering(folder, *given):
    if folder.name == "removed":
        folder.rmdir()
    overlay(folder, *given)


namespaces._mounts_below, namespaces.mount_overlay = seen, covering
namespaces.cover([(sys.argv[1], sys.argv[2])], [])
os.chdir(sys.argv[1])
for name in ("new", "sub/new", "file"):
    with open(name, "a") as file:
        file.write("after")
assert Path("file").read_text() == "beforeafter"
assert Path(f"/proc/self/fd/{own}").read_text() == "before"
assert Path("odd/self/comm").read_text()
try:
    Path("odd/self/comm").write_text("new")
except OSError as error:
    assert "Read-only" in str(error), error
else:
    raise AssertionError("no overlay lies over /proc")
"""


def test_what_is_mounted_below_a_folder_is_covered_copied_or_read_only(folder, tmp_path):
    """Two folders of mounts go meanwhile: one before it is opened, one before it is covered."""
    subprocess.run([sys.executable, "-c", MOUNTED, folder, tmp_path / "layer"], cwd=folder, check=True)
    assert content(folder) == {"file": b"before", "odd": None, "removed": None, "sub": None}


def test_a_folder_that_no_overlay_covers_is_named(guard):
    with pytest.raises(LaunchError, match="no overlay over /proc"):
        guard.cover([Path("/proc")])
