"""The manifest: one line for each launch, whatever a crash left of the last one; one process at a time."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from dataclasses import replace

import pytest
from tests.factories import make_race

from stackrace.base.errors import StoreError
from stackrace.race.events import Activity, BlockEnded, LaunchEnded, LaunchStarted, Progress
from stackrace.race.results.race import Ending
from stackrace.race.run.resume import going_on
from stackrace.store.manifest import (
    _FORMAT,
    BlockLine,
    LaunchLine,
    Opening,
    _line_of,
    _parse,
    begin_manifest,
    finished,
    has_manifest,
    is_racing,
    reopen_manifest,
)
from stackrace.store.recorder import ManifestSink

OPENING = Opening(race="3ntgduai031hk", version="0.1.0", store="/s", request={"folder": "/srv", "seed": 2**70})
LAUNCH = LaunchLine(launch="a" * 13, block=0, stack="gunicorn", ready_s=0.5, slices=2, took_s=3.0)


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where manifests lie."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path / "stackrace" / "races"


def noted(race, folder, *, clock=None, blocks=None):
    """Tell a manifest what ``race`` is made of, ten seconds for each launch."""
    clock = clock or Clock()
    opening = replace(OPENING, race=race.id)
    with begin_manifest(opening) as file:
        sink = ManifestSink(file, clock.now, folder=folder, clock=clock)
        for block in range(1 + max(launch.block for launch in race.launches)):
            for launch in (one for one in race.launches if one.block == block):
                sink(LaunchStarted(launch))
                clock.now += 10.0
                sink(LaunchEnded(launch))
            if blocks is None or block < blocks:
                sink(BlockEnded(block + 1, race))
            sink(Progress(Activity.STOPPING))
        return file.read()


def test_every_launch_and_every_block_has_its_line(folder):
    race = make_race(stacks=2, levels=(1, 10), blocks=2)
    manifest = noted(race, folder)
    assert manifest.opening == replace(OPENING, race=race.id)
    assert [line.launch for line in manifest.launches] == [launch.id for launch in race.launches]
    assert [line.stack for line in manifest.launches] == [launch.stack for launch in race.launches]
    assert [line.slices for line in manifest.launches] == [2] * 4
    assert [line.ready_s for line in manifest.launches] == [launch.ready_s for launch in race.launches]
    assert {line.took_s for line in manifest.launches} == {10.0}
    assert manifest.blocks == (BlockLine(block=0, elapsed_s=20.0), BlockLine(block=1, elapsed_s=40.0))
    lines = (folder / race.id / "manifest.jsonl").read_text().splitlines()
    assert [json.loads(line)["line"] for line in lines] == [
        "request", "spell", "launch", "launch", "block", "launch", "launch", "block",
    ]  # fmt: skip


def test_only_its_owner_may_read_what_may_hold_passwords(folder):
    with begin_manifest(OPENING):
        path = folder / OPENING.race / "manifest.jsonl"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("kept", range(1, len(_line_of(LAUNCH))))
def test_a_line_that_was_torn_costs_no_other(kept):
    whole = _line_of(OPENING) + _line_of(LAUNCH)
    assert _parse(whole + _line_of(LAUNCH)[:kept]) == _parse(whole)
    mended = _parse(
        whole + _line_of(LAUNCH)[:kept].rstrip(b"\n") + b"\n" + _line_of(BlockLine(block=0, elapsed_s=1.0))
    )
    assert mended.blocks == (BlockLine(block=0, elapsed_s=1.0),)


def test_a_torn_line_is_ended_before_the_race_goes_on(folder):
    with begin_manifest(OPENING):
        path = folder / OPENING.race / "manifest.jsonl"
    path.write_bytes(path.read_bytes() + _line_of(LAUNCH)[:-9])
    with reopen_manifest(OPENING.race) as file:
        file.append(LAUNCH)
        assert file.read().launches == (LAUNCH,)


@pytest.mark.parametrize(
    "text", [b"", b"\n", b"null\n", b"{}\n", _line_of(OPENING)[:-1], _line_of(LAUNCH), b"\xff\n"]
)
def test_what_does_not_begin_with_what_was_asked_is_no_manifest(text):
    with pytest.raises(ValueError, match=r".+"):
        _parse(text)


def test_what_another_version_wrote_is_not_guessed_at():
    other = json.loads(_line_of(OPENING)) | {"format": _FORMAT + 1, "more": 1}
    with pytest.raises(ValueError, match="another version of Stackrace wrote it"):
        _parse(json.dumps(other).encode() + b"\n")


def test_lines_of_a_kind_that_is_unknown_are_passed_over():
    text = _line_of(OPENING) + b'{"line":"weather","rain":true}\n[1]\n"x"\n' + _line_of(LAUNCH)
    assert _parse(text).launches == (LAUNCH,)


# Which blocks are whole


@pytest.mark.parametrize(("blocks", "told", "whole"), [(4, 4, (4, 120.0)), (4, 3, (3, 90.0)), (1, 0, (0, 0.0))])
def test_blocks_are_whole_whose_end_is_told(folder, blocks, told, whole):
    race = make_race(stacks=3, levels=(10,), blocks=blocks, ending=None)
    assert finished(noted(race, folder, blocks=told), race) == whole


@pytest.mark.parametrize("lost", ["launch", "slice", "end"])
def test_a_block_that_a_power_failure_took_from_the_store_is_not_whole(folder, lost):
    race = make_race(stacks=3, levels=(10,), blocks=4, ending=None)
    manifest = noted(race, folder)
    *kept, last = race.launches
    rest = {"launch": (), "slice": (replace(last, slices=()),), "end": (replace(last, ready_s=None),)}[lost]
    assert finished(manifest, replace(race, launches=(*kept, *rest))) == (3, 90.0)


def test_a_block_that_was_raced_again_is_whole_though_it_had_been_cut(folder):
    race = make_race(stacks=2, levels=(10,), blocks=2, ending=None)
    cut = going_on(race, done=1, spent_s=20.0)
    again = tuple(replace(launch, id=launch.id[::-1]) for launch in race.launches if launch.block == 1)
    race = replace(cut, launches=(*cut.launches, *again))
    assert finished(noted(race, folder), race)[0] == 2


# One at a time


def test_whoever_races_is_alone(folder):
    with begin_manifest(OPENING):
        assert is_racing(OPENING.race)
        with pytest.raises(StoreError, match="already running"):
            reopen_manifest(OPENING.race)
    assert not is_racing(OPENING.race)
    with reopen_manifest(OPENING.race), pytest.raises(StoreError, match="already running"):
        reopen_manifest(OPENING.race)


HOLDER = """
import sys
from stackrace.store.manifest import reopen_manifest
with reopen_manifest(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_the_lock_of_a_process_that_was_killed_is_free(folder):
    with begin_manifest(OPENING):
        pass
    command = [sys.executable, "-c", HOLDER, OPENING.race]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        assert is_racing(OPENING.race)
        holder.kill()
        holder.wait()
        assert not is_racing(OPENING.race)


def test_a_race_of_another_machine_has_none_and_says_so(folder):
    assert not has_manifest(OPENING.race)
    assert not is_racing(OPENING.race)
    with pytest.raises(StoreError, match="Another machine"):
        reopen_manifest(OPENING.race)


def test_a_folder_that_cannot_be_made_is_told(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    with pytest.raises(StoreError, match="XDG_DATA_HOME"):
        begin_manifest(OPENING)


def test_a_full_disk_is_told(folder):
    with begin_manifest(OPENING) as file:
        full = os.open("/dev/full", os.O_WRONLY)
        os.dup2(full, file._descriptor)
        os.close(full)
        with pytest.raises(StoreError, match="free some space"):
            file.append(LAUNCH)


# The store


def test_an_interrupted_race_goes_on_in_the_store_and_its_history_is_empty(store):
    race = make_race(stacks=3, levels=(10,), blocks=3, ending=None)
    store.begin(race)
    store.end(race.id, Ending.INTERRUPTED, 40.0)
    former = going_on(store.load(race.id), done=2, spent_s=30.0, budget_s=9000.0)
    store.resume(former)
    stored = store.load(race.id)
    assert stored == replace(former, elapsed_s=40.0)
    again = make_race(stacks=3, levels=(10,), blocks=3, seed=8).launches[-3:]
    for launch in again:
        store.add_launch(race.id, replace(launch, slices=()))
        store.end_launch(launch)
    store.end(race.id, Ending.COMPLETED, 50.0)
    ended = store.load(race.id)
    assert (ended.ending, ended.elapsed_s, ended.resumed) == (Ending.COMPLETED, 50.0, 1)
    assert [launch.id for launch in ended.launches] == [one.id for one in (*race.launches, *again)]
    assert store.alterations(race.id) == ()


def test_a_killed_race_goes_on_with_launches_that_never_ended(store, writer):
    race = writer.make_race("5" * 13)
    launch = writer.make_launch("6" * 13)
    store.begin(race)
    store.add_launch(race.id, launch)
    former = going_on(store.load(race.id), done=0, spent_s=0.0)
    store.resume(former)
    assert store.load(race.id) == former
    assert store.load(race.id).launches[0].cut_short
    assert store.alterations(race.id) == ()


def test_only_one_of_two_goes_on(store):
    race = make_race(stacks=2, levels=(10,), blocks=1, ending=Ending.INTERRUPTED)
    store.begin(race)
    former = going_on(store.load(race.id), done=0, spent_s=0.0)
    store.resume(former)
    with pytest.raises(StoreError, match="was not interrupted"):
        store.resume(former)


@pytest.mark.parametrize("ending", [one for one in Ending if one is not Ending.INTERRUPTED])
def test_a_race_that_ended_well_does_not_go_on(store, ending):
    race = make_race(stacks=2, levels=(10,), blocks=1, ending=ending)
    store.begin(race)
    before = store.load(race.id)
    with pytest.raises(StoreError, match="was not interrupted"):
        store.resume(going_on(before, done=0, spent_s=0.0))
    assert store.load(race.id) == before


def test_unfinished_races_are_listed_newest_first(store):
    for number, ending in enumerate((None, Ending.INTERRUPTED, Ending.BUDGET, None)):
        race = make_race(stacks=2, levels=(10,), blocks=1, seed=number, ending=ending)
        store.begin(replace(race, id=str(number) * 13, started_at=f"2026-01-0{number + 1}T00:00:00+00:00"))
    assert store.unfinished() == ("3" * 13, "1" * 13, "0" * 13)
