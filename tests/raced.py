"""Real races of the tests: a machine that is busy with other tests may spoil any of their measurements."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from stackrace.store import open_store


def raced(done):
    """Return the document of a race that came to its end.

    Every slice may have been refused on a busy machine, which is exit code 3; then no stack stands.
    """
    assert done.returncode in (0, 3), done.stderr
    document = json.loads(done.stdout)
    if done.returncode == 3 and not document["void"]:
        assert document["standing"] == []
    return document


def told(document):
    """Return the stacks that stand, and those whose every slice was refused: which it is, the machine decides."""
    spoiled = {one["stack"] for one in document["withdrawals"] if one["failure"]["code"] == "refused"}
    return {row["stack"] for row in document["standing"]} | spoiled


def slices_of(document):
    """Return all slices of a race, whatever became of them."""
    return [one for launch in document["launches"] for one in launch["slices"]]


def ended_launches(url=None):
    """Return how many launches have ended of each unfinished race in a store, by its id."""
    with open_store(url) as store:
        races = [store.load(each) for each in store.unfinished()]
    return {
        race.id: sum(launch.ready_s is not None or launch.failure is not None for launch in race.launches)
        for race in races
    }


def left_in(temporary):
    """What lies in the folder for temporary files, and who was started from there."""
    found = {path.name for path in temporary.iterdir()}
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if os.fsencode(temporary) in line.read_bytes():
                found.add(line.parent.name)
        except OSError:
            continue
    return found


def wait_until_nothing_is_left(temporary):
    deadline = time.monotonic() + 1800
    while (left := left_in(temporary)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left == set()
