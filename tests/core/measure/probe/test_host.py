"""Facts of this machine, and throttling in both versions of control groups."""

import os
import resource

import psutil
import pytest

from stackrace.measure.probe import available_bytes, host_facts, host_reading, network_limits, physical_cores


def test_facts_of_this_machine_are_complete():
    facts = host_facts()
    assert facts.system and facts.kernel and facts.cpu and facts.python.split()[1][0] == "3"
    assert facts.cores == len(os.sched_getaffinity(0))
    assert facts.memory_bytes > 1 << 20
    assert facts.limits["RLIMIT_NOFILE"] <= facts.limits["RLIMIT_NOFILE.hard"]
    assert facts.limits["net.ipv4.ip_local_port_range.low"] < facts.limits["net.ipv4.ip_local_port_range.high"]
    assert facts.limits["net.core.somaxconn"] > 0


def test_the_system_is_named_with_or_without_quotes():
    assert host_reading._system('ID=debian\nPRETTY_NAME="Debian GNU/Linux 12"\n') == "Debian GNU/Linux 12"
    assert host_reading._system("PRETTY_NAME=Alpine\n") == "Alpine"
    assert host_reading._system("") == "Linux"


def test_the_processor_is_named_by_model_or_architecture():
    assert host_reading._cpu("processor : 0\nmodel name\t: Some   CPU @ 2GHz\n") == "Some CPU @ 2GHz"
    assert host_reading._cpu("processor : 0\n") == os.uname().machine


def test_a_guest_is_known_by_its_flag():
    assert "virtual machine" in host_reading._virtual("flags : fpu hypervisor sse\n")


def test_limits_are_those_of_this_process():
    limits = network_limits()
    assert limits.descriptors == resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert limits.descriptors <= limits.descriptors_hard
    assert 0 < limits.ephemeral_ports < 65536
    assert limits.tw_reuse in (0, 1, 2)


def machine(folder, **siblings):
    for cpu, listed in siblings.items():
        topology = folder / cpu / "topology"
        topology.mkdir(parents=True)
        (topology / "thread_siblings_list").write_text(f"{listed}\n")
    return folder


def test_threads_of_one_core_are_grouped(tmp_path):
    folder = machine(tmp_path, cpu0="0,4", cpu4="0,4", cpu1="1,5", cpu5="1,5")
    assert physical_cores((0, 1, 4, 5), folder) == ((0, 4), (1, 5))


def test_threads_that_may_not_be_used_are_left_out(tmp_path):
    folder = machine(tmp_path, cpu0="0-1", cpu1="0-1", cpu2="2-3", cpu3="2-3")
    assert physical_cores((1, 2, 3), folder) == ((1,), (2, 3))


def test_without_a_topology_each_is_a_core_of_its_own(tmp_path):
    assert physical_cores((0, 3), tmp_path) == ((0,), (3,))
    assert physical_cores((0,), machine(tmp_path, cpu0="nonsense")) == ((0,),)


def test_this_machine_has_every_core_once():
    usable = os.sched_getaffinity(0)
    assert sorted(cpu for core in physical_cores(usable) for cpu in core) == sorted(usable)


def test_it_is_what_others_find_too():
    assert available_bytes() == pytest.approx(psutil.virtual_memory().available, rel=0.3)


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
    monkeypatch.setattr(host_reading, "read", {"/proc/self/cgroup": groups, path: content}.get)
    assert host_reading.throttled_s() == seconds


def test_a_quota_around_our_group_counts(monkeypatch):
    files = {
        "/proc/self/cgroup": b"0::/box/inner\n",
        "/sys/fs/cgroup/box/inner/cpu.stat": b"usage_usec 9\n",
        "/sys/fs/cgroup/box/cpu.stat": b"throttled_usec 4000000\n",
        "/sys/fs/cgroup/box/cpu.max": b"150000 100000\n",
        "/sys/fs/cgroup/box/inner/cpu.max": b"max 100000\n",
    }
    monkeypatch.setattr(host_reading, "read", files.get)
    assert host_reading.throttled_s() == 4.0
    assert host_reading.allowed_cores() == 1.5


def test_version_one_quotas_are_read_and_none_is_infinite(monkeypatch):
    files = {
        "/proc/self/cgroup": b"2:cpu:/box\n0::/\n",
        "/sys/fs/cgroup/cpu/box/cpu.cfs_quota_us": b"50000\n",
        "/sys/fs/cgroup/cpu/box/cpu.cfs_period_us": b"100000\n",
    }
    monkeypatch.setattr(host_reading, "read", files.get)
    assert host_reading.allowed_cores() == 0.5
    files["/sys/fs/cgroup/cpu/box/cpu.cfs_quota_us"] = b"-1\n"
    assert host_reading.allowed_cores() == float("inf")


def test_a_limit_of_memory_leaves_what_the_group_does_not_hold_yet(monkeypatch):
    files = {
        "/proc/meminfo": b"MemAvailable: 4096 kB\n",
        "/proc/self/cgroup": b"0::/box/inner\n",
        "/sys/fs/cgroup/box/memory.max": b"3000000\n",
        "/sys/fs/cgroup/box/memory.current": b"2500000\n",
        "/sys/fs/cgroup/box/memory.stat": b"anon 9\ninactive_file 500000\n",
        "/sys/fs/cgroup/box/inner/memory.max": b"max\n",
        "/sys/fs/cgroup/box/inner/memory.current": b"2500000\n",
    }
    monkeypatch.setattr(host_reading, "read", files.get)
    assert available_bytes() == 1_000_000
    files["/sys/fs/cgroup/box/memory.max"] = b"1000000\n"
    assert available_bytes() == 0
    assert host_facts().memory_bytes == 1_000_000
    files["/sys/fs/cgroup/box/memory.max"] = b"max\n"
    assert available_bytes() == 4096 * 1024
    assert host_facts().memory_bytes > 1 << 20


def test_version_one_limits_of_memory_are_read(monkeypatch):
    files = {
        "/proc/self/cgroup": b"5:memory:/box\n0::/\n",
        "/sys/fs/cgroup/memory/box/memory.limit_in_bytes": b"3000000\n",
        "/sys/fs/cgroup/memory/box/memory.usage_in_bytes": b"1000000\n",
        "/sys/fs/cgroup/memory/box/memory.stat": b"inactive_file 1\ntotal_inactive_file 200000\n",
    }
    monkeypatch.setattr(host_reading, "read", files.get)
    assert available_bytes() == 2_200_000


@pytest.mark.parametrize(
    ("cpuinfo", "machine", "emulator"),
    [
        ("vendor_id\t: GenuineIntel\nmodel name\t: Some CPU\nflags\t\t: fpu hypervisor\n", "x86_64", ""),
        ("vendor_id\t: GenuineIntel\nmodel name\t: QEMU Virtual CPU version 2.5+\n", "x86_64", ""),
        ("vendor_id\t: AuthenticAMD\nmodel name\t: QEMU TCG CPU version 2.5+\n", "x86_64", "QEMU"),
        ("vendor_id\t: VirtualApple\nmodel name\t: VirtualApple @ 2.50GHz\n", "x86_64", "Rosetta"),
        ("processor\t: 0\nCPU implementer\t: 0x61\n", "x86_64", "QEMU"),
        ("processor\t: 0\nCPU implementer\t: 0x61\n", "aarch64", ""),
        ("processor\t: 0\nCPU implementer\t: 0x00\nCPU part\t: 0x051\n", "aarch64", "QEMU"),
        ("vendor_id\t: GenuineIntel\nflags\t\t: fpu\n", "aarch64", "QEMU"),
        ("", "x86_64", ""),
    ],
)
def test_an_emulated_processor_shows(cpuinfo, machine, emulator):
    assert host_reading._emulator(cpuinfo, machine) == emulator
