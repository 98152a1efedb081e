"""Several processes, and their sudden death."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import contextmanager

from stackrace.base import ids
from stackrace.store import open_store

ENDLESS = 1_000_000


@contextmanager
def writing(writer, url, slices):
    """Yield a writer process and its race's id; it is dead afterwards."""
    race_id = ids.generate()
    command = [sys.executable, str(writer.path), url, race_id, ids.generate(), str(slices)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process, race_id
        finally:
            process.kill()


def test_a_killed_race_keeps_every_finished_slice_and_block(writer, url):
    with writing(writer, url, ENDLESS) as (process, race_id):
        for _ in range(25):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        told = 25 + len(process.stdout.read().splitlines())
        assert process.wait() == -signal.SIGKILL
    with open_store(url) as store:
        race, checkpoint = store.load(race_id), store.checkpoint(race_id)
    slices = race.launches[0].slices
    assert race.ending is None
    assert len(slices) in (told, told + 1)  # the last may have been stored and not told
    assert slices == tuple(writer.make_slice(index) for index in range(len(slices)))
    assert told <= checkpoint.blocks <= len(slices)


def test_two_races_make_the_store_and_write_to_it_at_once(writer, url):
    with writing(writer, url, 60) as (one, first), writing(writer, url, 60) as (other, second):
        assert one.communicate()[0].split()[-1:] == ["59"]
        assert other.communicate()[0].split()[-1:] == ["59"]
        assert (one.returncode, other.returncode) == (0, 0)
    with open_store(url) as store:
        for race_id in (first, second):
            assert [each.index for each in store.load(race_id).launches[0].slices] == list(range(60))


def test_a_running_race_can_be_read(writer, url):
    with writing(writer, url, ENDLESS) as (process, race_id), open_store(url) as store:
        process.stdout.readline()
        assert len(store.load(race_id).launches[0].slices) >= 1
        assert process.poll() is None
