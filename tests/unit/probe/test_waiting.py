"""Waiting for a CPU: read per thread."""

import os

from stackrace.probe import waiting


def test_the_wait_of_all_threads_counts(tmp_path, monkeypatch):
    files = {"/proc/7/task/7/schedstat": b"100 2500000000 3\n", "/proc/7/task/9/schedstat": b"1 500000000 1\n"}
    monkeypatch.setattr(waiting, "read", files.get)
    monkeypatch.setattr(waiting, "_threads", lambda pid: ["7", "8", "9"] if pid == 7 else [])
    assert waiting.waited_s([7, 8]) == 3.0


def test_we_ourselves_have_a_wait_and_the_dead_have_none():
    assert waiting.waited_s([os.getpid()]) >= 0
    assert waiting.waited_s([2**22 + 1]) == 0
