"""In which order hops are told to end, and what becomes of those that do not."""

import signal
from pathlib import Path
from types import SimpleNamespace

import pytest

from stackrace.deploy import shutdown
from stackrace.deploy.guard import Status
from stackrace.deploy.shutdown import stop
from stackrace.measure.launch import FailureKind

TERM = signal.SIGTERM


class FakeGuard:
    """Processes that end so many looks after they were told to; ``told`` is who was told, in order."""

    def __init__(self, lives):
        self.lives, self.told, self.killed = dict(lives), [], []

    def signal(self, pid, number):
        assert number is TERM
        self.told.append(pid)

    def kill(self, pid):
        self.killed.append(pid)

    def status(self, pids):
        for pid in pids:
            self.lives[pid] -= pid in self.told
        return {pid: Status(None, (pid,)) if self.lives[pid] > 0 else Status(0, ()) for pid in pids}


@pytest.fixture
def now(monkeypatch):
    """A clock that only sleeping moves."""
    now = [100.0]
    monkeypatch.setattr(shutdown.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(shutdown.time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    return now


def running(path, tmp_path, *parts):
    """A stack with ``parts``, last hop first: names and pids."""
    recipe = SimpleNamespace(stop=TERM, stop_timeout_s=15.0)
    site = SimpleNamespace(directory=tmp_path)
    made = tuple((SimpleNamespace(hop=hop, recipe=recipe, site=site), pid) for hop, pid in parts)
    return SimpleNamespace(stack=SimpleNamespace(path=path), parts=made, directory=Path(tmp_path, path), group=None)


def test_a_hop_is_told_once_all_in_front_of_it_are_gone_and_waits_for_no_other_stack(now, tmp_path):
    guard = FakeGuard({1: 3, 2: 2, 3: 1, 9: 50})
    slow = running("slow", tmp_path, ("slow", 9))
    chain = running("chain", tmp_path, ("app", 1), ("app", 2), ("front", 3))
    assert stop(guard, [slow, chain]) == {}
    assert guard.told[:2] == [9, 3]
    # both instances of the app at once, while the other stack has long to go
    assert set(guard.told[2:4]) == {1, 2}
    assert guard.lives[9] <= 0
    assert guard.killed == []


def test_who_does_not_end_is_told_again_and_killed_in_the_end(now, tmp_path):
    guard = FakeGuard({1: 10_000, 2: 1})
    complaints = stop(guard, [running("stuck", tmp_path, ("app", 1)), running("other", tmp_path, ("app", 2))])
    assert guard.killed == [1]
    assert guard.told.count(1) > 3
    assert guard.told.count(2) == 1
    assert list(complaints) == ["stuck"]
    assert complaints["stuck"].kind is FailureKind.NOT_STOPPED
    assert "did not end within 15 s of SIGTERM" in complaints["stuck"].message


def test_hops_behind_one_that_had_to_be_killed_are_stopped_too(now, tmp_path):
    guard = FakeGuard({1: 1, 2: 10_000})
    complaints = stop(guard, [running("chain", tmp_path, ("app", 1), ("front", 2))])
    assert guard.killed == [2]
    assert guard.told[-1] == 1
    assert "front" in complaints["chain"].message
