"""Machine counters, parsed from tables as the kernel writes them, and differenced; the speed, by real work."""

import os
import socket
import time
from dataclasses import replace

import pytest

from stackrace.measure.probe import canary_ns, difference, kernel_counters, machine_counters, read_machine

STAT = b"cpu  100 10 50 800 20 3 7 30 5 0\ncpu0 50 5 25 400 10 1 3 15 2 0\ncpu1 50 5 25 400 10 2 4 15 3 0\nintr 1\n"
NETSTAT = b"""TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPTimeouts TCPSynRetrans
TcpExt: 0 4 6 2 1
IpExt: InNoRoutes InOctets
IpExt: 0 77
"""
SNMP = b"""Ip: Forwarding DefaultTTL
Ip: 1 64
Tcp: RtoAlgorithm MaxConn ActiveOpens PassiveOpens OutSegs RetransSegs
Tcp: 1 -1 5 3 1000 9
"""
FILES = {
    "/proc/stat": STAT,
    "/proc/net/netstat": NETSTAT,
    "/proc/net/snmp": SNMP,
    "/proc/net/sockstat": b"sockets: used 22\nTCP: inuse 7 orphan 0 tw 12 alloc 7 mem 0\n",
    "/proc/vmstat": b"nr_free_pages 5\npgmajfault 11\npswpin 1\npswpout 2\n",
    "/proc/pressure/cpu": b"some avg10=1.00 avg60=2.00 avg300=3.00 total=1500000\nfull avg10=0.00 total=0\n",
}


@pytest.fixture
def tables(monkeypatch):
    tables = dict(FILES)
    monkeypatch.setattr(kernel_counters, "read", tables.get)
    return tables


def test_tables_are_read_by_name(tables):
    network = kernel_counters.network()
    assert (network["TcpExt.ListenDrops"], network["Tcp.PassiveOpens"], network["Tcp.MaxConn"]) == (6, 3, -1)
    assert kernel_counters.time_wait() == 12
    assert kernel_counters.virtual_memory()["pswpout"] == 2
    assert kernel_counters.pressure_s() == 1.5


def test_unused_time_is_told_for_each_core(tables, monkeypatch):
    monkeypatch.setattr(kernel_counters, "_interrupt_threads", lambda: {1: 17})
    monkeypatch.setattr(kernel_counters, "process_cpu_ns", lambda pid: 2_000_000_000)
    tick = 1 / os.sysconf("SC_CLK_TCK")
    # ksoftirqd's time is among that of interrupts
    assert kernel_counters.unused_by_core() == pytest.approx({0: 429 * tick, 1: 431 * tick})
    # of interrupts in the processes' own clocks, only ksoftirqd's time is nobody's
    tables["/proc/stat"] = STAT.replace(b"400 10 1 3", b"400 10 0 3").replace(b"400 10 2 4", b"400 10 0 4")
    assert kernel_counters.unused_by_core() == pytest.approx({0: 425 * tick, 1: 425 * tick + 2.0})
    tables.clear()
    assert kernel_counters.unused_by_core() == {}
    assert kernel_counters.stolen_by_core() == {}


def test_the_stacks_cores_are_told_apart(tables, monkeypatch):
    monkeypatch.setattr(kernel_counters, "_interrupt_threads", dict)
    before = read_machine((), (1,))
    tables["/proc/stat"] = STAT.replace(b"cpu1 50 5 25 400", b"cpu1 50 5 25 500")
    after = replace(read_machine((), (1,)), at_s=before.at_s + 3.0)
    delta = difference(before, after)
    assert delta.stack_cores == 1
    assert delta.stack_cores_busy_s == pytest.approx(3.0 - 100 / os.sysconf("SC_CLK_TCK"))
    assert difference(read_machine(), read_machine()).stack_cores == 0


def test_what_is_stolen_of_the_stacks_cores_is_told_apart_from_the_rest(tables):
    tick = 1 / os.sysconf("SC_CLK_TCK")
    assert kernel_counters.stolen_by_core() == pytest.approx({0: 15 * tick, 1: 15 * tick})
    before = read_machine((), (1,))
    tables["/proc/stat"] = STAT.replace(b"1 3 15", b"1 3 55").replace(b"2 4 15", b"2 4 35")
    delta = difference(before, read_machine((), (1,)))
    assert delta.stack_cores_steal_s == pytest.approx(20 * tick)
    assert delta.steal_s == pytest.approx(60 * tick)


def test_missing_tables_count_as_nothing(tables):
    tables.clear()
    assert read_machine().cores == 1
    assert kernel_counters.network() == {}
    assert kernel_counters.time_wait() == 0
    assert kernel_counters.pressure_s() == 0.0
    assert difference(read_machine(), read_machine()).listen_overflows == 0


def test_a_difference_holds_rates_and_one_state():
    before = read_machine()
    after = replace(
        before,
        at_s=before.at_s + 2.0,
        realtime_s=before.realtime_s + 2.5,
        cores=4,
        unused_s=before.unused_s + 3.0,
        steal_s=before.steal_s + 0.25,
        own_s=before.own_s + 0.5,
        swapped_pages=before.swapped_pages + 8,
        retransmits=before.retransmits + 3,
        time_wait=40,
    )
    delta = difference(before, after)
    assert (delta.elapsed_s, delta.cores, delta.capacity_s) == (pytest.approx(2.0), 4, pytest.approx(8.0))
    assert delta.busy_s == pytest.approx(5.0)
    assert (delta.steal_s, delta.own_s) == (pytest.approx(0.25), pytest.approx(0.5))
    assert delta.clock_step_s == pytest.approx(0.5, abs=1e-3)
    assert (delta.swapped_pages, delta.retransmits, delta.time_wait) == (8, 3, 40)


def test_busy_time_is_never_negative():
    before = read_machine()
    assert difference(before, replace(before, unused_s=before.unused_s + 1.0)).busy_s == 0.0


def test_our_own_work_is_both_busy_and_own():
    before = read_machine()
    end = time.process_time() + 0.3
    while time.process_time() < end:
        pass
    delta = difference(before, read_machine())
    assert delta.own_s >= 0.3
    assert delta.busy_s > 0
    assert delta.cores >= 1


def test_an_accepted_connection_is_counted():
    before = read_machine()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        server.accept()[0].close()
    delta = difference(before, read_machine())
    assert delta.accepted >= 1
    assert delta.segments_sent >= 3


CPU = "/sys/devices/system/cpu"
SPEEDS = {
    f"{CPU}/cpu0/cpufreq/scaling_cur_freq": 3_400_000,
    f"{CPU}/cpu1/cpufreq/scaling_cur_freq": 3_000_000,
    f"{CPU}/cpu0/thermal_throttle/core_throttle_count": 3,
    f"{CPU}/cpu0/thermal_throttle/package_throttle_count": 17,
    f"{CPU}/cpu1/thermal_throttle/core_throttle_count": 1,
}


@pytest.fixture
def told(monkeypatch):
    told = dict(SPEEDS)
    monkeypatch.setattr(machine_counters, "read_number", lambda path: told.get(path, 0))
    return told


def test_the_canary_costs_cpu_time_and_leaves_the_thread_where_it_was():
    allowed = os.sched_getaffinity(0)
    assert canary_ns(sorted(allowed)) > 0
    assert os.sched_getaffinity(0) == allowed


def test_a_canary_without_a_core_to_run_on_says_nothing():
    assert canary_ns(()) == 0
    assert canary_ns((1023,)) == 0


def test_of_many_cores_the_canary_visits_four():
    assert list(machine_counters._spread(range(16))) == [0, 5, 10, 15]
    assert list(machine_counters._spread((2, 7))) == [2, 7]


def test_frequency_is_the_mean_of_the_cores_and_heat_the_largest_count(told):
    assert machine_counters._frequency_khz((0, 1)) == 3_200_000
    assert machine_counters._heat_stops((0, 1)) == 17
    told.clear()
    assert machine_counters._frequency_khz((0, 1)) == 0
    assert machine_counters._heat_stops((0, 1)) == 0


def test_speed_frequency_and_heat_become_changes(told):
    before = read_machine((), (0,))
    told[f"{CPU}/cpu0/cpufreq/scaling_cur_freq"] = 1_700_000
    told[f"{CPU}/cpu0/thermal_throttle/core_throttle_count"] = 19
    delta = difference(before, read_machine((), (0,)), canary_ns=(300_000, 400_000))
    assert delta.speed_change == -0.25
    assert (delta.canary_before_ns, delta.canary_after_ns) == (300_000, 400_000)
    assert delta.frequency_change == -0.5
    assert delta.heat_stops == 2


def test_what_nobody_measured_is_unknown():
    before = read_machine()
    delta = difference(before, before, canary_ns=(300_000, 0.0))
    assert delta.speed_change is None
    assert (delta.canary_before_ns, delta.canary_after_ns) == (300_000, None)
    assert delta.heat_stops == 0
