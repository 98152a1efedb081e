"""Templates: made once, whole or not at all, by one race at a time, and not kept for ever."""

import os
import signal
import subprocess
import sys
import time

import pytest

from stackrace.base.errors import InputError, LaunchError
from stackrace.deploy.folder_templates import _UNUSED_DAYS, Templates


@pytest.fixture
def said():
    return []


@pytest.fixture
def templates(tmp_path, said):
    return Templates(tmp_path, said.append)


def write(text):
    return lambda folder: (folder / "file").write_text(text)


def names(tmp_path):
    return sorted(path.name.rpartition("-")[0] for path in (tmp_path / "services").iterdir() if path.is_dir())


def test_a_template_is_built_once_for_the_same_identity(templates):
    with templates.holding("shop", ["1"], write("first")) as folder:
        assert (folder / "file").read_text() == "first"
    with templates.holding("shop", ["1"], write("second")) as folder:
        assert (folder / "file").read_text() == "first"
    with templates.holding("shop", ["2"], write("third")) as folder:
        assert (folder / "file").read_text() == "third"


def test_words_that_only_join_alike_are_different_identities(templates):
    with templates.holding("shop", ["a", "b"], write("first")) as folder:
        one = folder
    with templates.holding("shop", ["ab"], write("second")) as folder:
        assert folder != one


def test_a_build_that_fails_leaves_nothing_and_is_tried_again(templates, tmp_path):
    def fail(folder):
        (folder / "half").write_text("half")
        raise LaunchError("no")

    with pytest.raises(LaunchError, match="no"), templates.holding("shop", ["1"], fail):
        pass
    assert list((tmp_path / "services").iterdir()) == []
    with templates.holding("shop", ["1"], write("whole")) as folder:
        assert [path.name for path in folder.iterdir()] == ["file"]


def test_templates_may_be_made_of_others(templates):
    def outer(folder):
        with templates.holding("inner", [], write("inside")) as inner:
            (folder / "file").write_text((inner / "file").read_text())

    with templates.holding("outer", [], outer) as folder:
        assert (folder / "file").read_text() == "inside"


def test_what_nobody_used_for_long_is_removed_and_what_is_in_use_is_not(templates, tmp_path):
    old = time.time() - (_UNUSED_DAYS + 1) * 86400
    with templates.holding("unused", [], write("")) as unused:
        pass
    with templates.holding("held", [], write("")) as held:
        for folder in (unused, held):
            os.utime(folder, (old, old))
        with templates.holding("other", [], write("")):
            assert names(tmp_path) == ["held", "other"]
    assert not unused.with_name(unused.name + ".lock").exists()


def test_using_a_template_again_keeps_it(templates, tmp_path):
    old = time.time() - (_UNUSED_DAYS + 1) * 86400
    with templates.holding("shop", [], write("first")) as folder:
        os.utime(folder, (old, old))
    with templates.holding("shop", [], write("second")) as folder:
        assert (folder / "file").read_text() == "first"
    with templates.holding("other", [], write("")):
        assert names(tmp_path) == ["other", "shop"]


def test_a_cache_that_cannot_be_written_names_the_way_out(tmp_path):
    (tmp_path / "services").write_text("a file where the folder should be")
    with (
        pytest.raises(InputError, match="XDG_CACHE_HOME"),
        Templates(tmp_path, print).holding("shop", [], write("")),
    ):
        pass


SLOW = """
import os, sys
from pathlib import Path
from stackrace.deploy.folder_templates import Templates
from stackrace.deploy.preparing import Step

def build(folder):
    (folder / "file").write_text(str(os.getpid()))
    with open(sys.argv[2], "a") as log:
        log.write("built\\n")
    print("building", flush=True)
    sys.stdin.readline()

def say(what):
    print("waiting" if what.step is Step.OTHER_RACE else what, flush=True)

with Templates(Path(sys.argv[1]), say).holding("shop", [], build) as folder:
    print((folder / "file").read_text(), flush=True)
"""


def test_a_second_race_builds_itself_when_the_first_ones_build_fails(tmp_path):
    with builder(tmp_path) as first:
        assert first.stdout.readline() == "building\n"
        with builder(tmp_path) as second:
            assert second.stdout.readline() == "waiting\n"
            first.send_signal(signal.SIGINT)
            assert second.stdout.readline() == "building\n"
            second.stdin.write("\n")
            second.stdin.close()
            assert second.stdout.readline() == f"{second.pid}\n"
    assert first.returncode != 0


def builder(tmp_path):
    return subprocess.Popen(
        [sys.executable, "-c", SLOW, str(tmp_path), str(tmp_path / "log")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_second_race_waits_for_the_first_ones_build(tmp_path):
    with builder(tmp_path) as first:
        assert first.stdout.readline() == "building\n"
        with builder(tmp_path) as second:
            assert second.stdout.readline() == "waiting\n"
            first.stdin.write("\n")
            first.stdin.close()
            assert first.stdout.readline() == second.stdout.readline() == f"{first.pid}\n"
    assert (tmp_path / "log").read_text() == "built\n"


def test_a_killed_build_is_cleared_away_by_whoever_comes_next(tmp_path, templates):
    with builder(tmp_path) as killed:
        assert killed.stdout.readline() == "building\n"
        killed.send_signal(signal.SIGKILL)
    (left,) = (tmp_path / "services").glob("*.part")
    with templates.holding("other", [], write("")):
        assert not left.exists()
    with templates.holding("shop", [], write("whole")) as folder:
        assert (folder / "file").read_text() == "whole"
