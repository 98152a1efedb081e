"""Throttling, in both versions of control groups."""

import pytest

from stackrace.measure.probe import limits


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
    monkeypatch.setattr(limits, "read", {"/proc/self/cgroup": groups, path: content}.get)
    assert limits.throttled_s() == seconds


def test_a_quota_around_our_group_counts(monkeypatch):
    files = {
        "/proc/self/cgroup": b"0::/box/inner\n",
        "/sys/fs/cgroup/box/inner/cpu.stat": b"usage_usec 9\n",
        "/sys/fs/cgroup/box/cpu.stat": b"throttled_usec 4000000\n",
        "/sys/fs/cgroup/box/cpu.max": b"150000 100000\n",
        "/sys/fs/cgroup/box/inner/cpu.max": b"max 100000\n",
    }
    monkeypatch.setattr(limits, "read", files.get)
    assert limits.throttled_s() == 4.0
    assert limits.allowed_cores() == 1.5


def test_version_one_quotas_are_read_and_none_is_infinite(monkeypatch):
    files = {
        "/proc/self/cgroup": b"2:cpu:/box\n0::/\n",
        "/sys/fs/cgroup/cpu/box/cpu.cfs_quota_us": b"50000\n",
        "/sys/fs/cgroup/cpu/box/cpu.cfs_period_us": b"100000\n",
    }
    monkeypatch.setattr(limits, "read", files.get)
    assert limits.allowed_cores() == 0.5
    files["/sys/fs/cgroup/cpu/box/cpu.cfs_quota_us"] = b"-1\n"
    assert limits.allowed_cores() == float("inf")
