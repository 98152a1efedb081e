"""Whatever a race leaves can be removed."""

import os
import tempfile
from pathlib import Path

import pytest

from stackrace.base.files import walk
from stackrace.base.removal import remove_tree


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
    here = os.open(place, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("deep", dir_fd=here)
        inner = os.open("deep", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
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


def test_any_depth_is_walked_through(place):
    made = [place / "run", *((place / "run").joinpath(*"d" * depth) for depth in range(1, 1500))]
    for folder in made:
        folder.mkdir()
    (made[-1] / "loop").symlink_to("loop")
    (made[-1] / "up").symlink_to("..")
    assert [Path(folder) for folder, _, _ in walk(place / "run")] == made
    assert [*walk(place / "run")][-1][1:] == (["up"], ["loop"])
    remove_tree(place / "run")
