"""Throttling, in both versions of control groups."""

import pytest

from stackrace.probe import cgroup


@pytest.mark.parametrize(
    ("groups", "path", "content", "seconds"),
    [
        (b"0::/app\n", "/sys/fs/cgroup/app/cpu.stat", b"usage_usec 9\nthrottled_usec 2500000\n", 2.5),
        (b"0::/\n", "/sys/fs/cgroup/cpu.stat", b"throttled_usec 1000\n", 0.001),
        (
            b"3:cpu,cpuacct:/box\n0::/\n",
            "/sys/fs/cgroup/cpu/box/cpu.stat",
            b"nr_throttled 1\nthrottled_time 7000000000\n",
            7.0,
        ),
        (b"0::/app\n", "/nowhere", b"", 0.0),
    ],
)
def test_throttled_time_is_found(monkeypatch, groups, path, content, seconds):
    monkeypatch.setattr(cgroup, "read", {"/proc/self/cgroup": groups, path: content}.get)
    assert cgroup.throttled_s() == seconds
