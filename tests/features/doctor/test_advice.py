"""What is advised on which machine: recorded machines, since none has all of these troubles at once."""

from pathlib import Path

import pytest
from tests.features.doctor.machines import GIB, GOVERNORS, plan, quiet, settings, watched

from stackrace.features.doctor.advice import Change, Gain, command_of
from stackrace.features.doctor.all_advice import ADVISERS, examine
from stackrace.features.doctor.kernel import BOOST, NO_TURBO, THP
from stackrace.features.doctor.look import Job, Remains, Surroundings
from stackrace.measure.host import HostFacts, Offender
from stackrace.measure.resources import Resources

SHARED = Resources(stack_cores=(0,), generator_cores=(0,))
HALVES = ((0, 1), (2, 3))


def virtual() -> HostFacts:
    return HostFacts(
        system="", kernel="", cpu="", cores=1, memory_bytes=1, virtual="virtual machine", python="", limits={}
    )


def folder(name: str, **others: object) -> Remains:
    return Remains(folder=Path("/tmp") / name, **others)  # type: ignore[arg-type]


# the advice's name, a machine that is just good enough, one that is not, what --apply would make of it
CASES: list[tuple[str, Surroundings, Surroundings, dict[str, str]]] = [
    ("file descriptors", quiet(plan=plan(480)), quiet(plan=plan(481)), {}),
    (
        "ephemeral ports",
        quiet(plan=plan(28_232, accept_queue=65_536, descriptors=10**6)),
        quiet(plan=plan(28_233, accept_queue=65_536, descriptors=10**6)),
        {"net.ipv4.ip_local_port_range": "10240 65535"},
    ),
    (
        "ports in TIME_WAIT",
        quiet(plan=plan(time_wait=14_116)),
        quiet(plan=plan(time_wait=14_117)),
        {"net.ipv4.ip_local_port_range": "10240 65535"},
    ),
    (
        "accept queue",
        quiet(plan=plan(4096, descriptors=10**6)),
        quiet(plan=plan(4097, descriptors=10**6)),
        {"net.core.somaxconn": "8192"},
    ),
    ("shared cores", quiet(), quiet(plan=plan(cores=SHARED)), {}),
    ("shared threads", quiet(plan=plan(threads=((0,), (1, 2), (3,)))), quiet(plan=plan(threads=HALVES)), {}),
    (
        "short queue",
        quiet(),
        quiet(plan=plan(accept_queue=128), settings=settings(**{"net.core.somaxconn": "128"})),
        {"net.core.somaxconn": "4096"},
    ),
    (
        "few ports",
        quiet(plan=plan(tw_reuse=1)),
        quiet(plan=plan(tw_reuse=0), settings=settings(**{"net.ipv4.tcp_tw_reuse": "0"})),
        {"net.ipv4.ip_local_port_range": "10240 65535", "net.ipv4.tcp_tw_reuse": "2"},
    ),
    ("CPU quota", quiet(allowed_cores=4.0), quiet(allowed_cores=3.5), {}),
    ("control groups", quiet(delegated=None), quiet(delegated=False), {}),
    (
        "governor",
        quiet(governors=()),
        quiet(settings=settings(**{GOVERNORS[1]: "schedutil"})),
        {GOVERNORS[1]: "performance"},
    ),
    ("turbo", quiet(settings=settings(**{BOOST: "0"})), quiet(settings=settings(**{NO_TURBO: "0"})), {}),
    ("steal", quiet(watched=watched(steal_s=0.08)), quiet(watched=watched(steal_s=0.081)), {}),
    ("machine speed", quiet(speed_spread=0.10), quiet(speed_spread=0.11), {}),
    ("virtual", quiet(), quiet(host=virtual()), {}),
    ("unstable clock", quiet(watched=watched(clocksource="")), quiet(watched=watched(clocksource="hpet")), {}),
    (
        "NMI watchdog",
        quiet(),
        quiet(settings=settings(**{"kernel.nmi_watchdog": "1"})),
        {"kernel.nmi_watchdog": "0"},
    ),
    ("memory left", quiet(memory_free_bytes=GIB), quiet(memory_free_bytes=GIB - 1), {}),
    ("disk nearly full", quiet(disk_free_bytes=10 * GIB), quiet(disk_free_bytes=10 * GIB - 1), {}),
    ("swap used", quiet(swap_bytes=20, settings={}), quiet(swap_bytes=20, swap_used_bytes=3, settings={}), {}),
    ("swappiness", quiet(swap_bytes=0), quiet(swap_bytes=GIB), {"vm.swappiness": "1"}),
    ("huge pages", quiet(), quiet(settings=settings(**{THP: "always"})), {THP: "madvise"}),
    (
        "foreign CPU",
        quiet(watched=watched(busy_s=0.25)),
        quiet(watched=watched(busy_s=0.26), offenders=(Offender(pid=812, name="cc1", share=0.1),)),
        {},
    ),
    ("pressure", quiet(watched=watched(stall_s=0.2)), quiet(watched=watched(stall_s=0.21)), {}),
    ("timers due", quiet(), quiet(jobs=(Job(name="apt-daily.timer", due_s=700.0),)), {}),
    ("scheduled jobs", quiet(daemons=frozenset({"sh"})), quiet(daemons=frozenset({"cron", "sh"})), {}),
    ("irqbalance", quiet(), quiet(daemons=frozenset({"irqbalance"})), {}),
    ("another race", quiet(), quiet(remains=(folder("stackrace-00000001", pids=(9,), guarded=True),)), {}),
    ("leftovers", quiet(), quiet(remains=(folder("stackrace-00000001"),)), {}),
    ("ports taken", quiet(), quiet(listeners={8000: "python3 (pid 812)"}), {}),
]


def test_a_quiet_machine_needs_nothing():
    examination = examine(quiet())
    assert (examination.advice, examination.changes, examination.forbidden) == ((), (), False)


@pytest.mark.parametrize(("name", "good", "bad", "applied"), CASES, ids=[case[0] for case in CASES])
def test_silent_where_all_is_well_and_one_advice_where_it_is_not(name, good, bad, applied):
    assert examine(good).advice == ()
    (advice,) = examine(bad).advice
    assert advice.check == name
    assert {change.key: change.after for change in advice.changes} == applied
    assert all(change.before == bad.settings[change.key] != change.after for change in advice.changes)


def test_every_adviser_has_a_case():
    assert len(CASES) == len(ADVISERS) + 6, "six more come from the checks before a race"


def test_all_advice_says_what_was_seen_why_it_matters_and_what_to_do():
    for name, _, bad, _ in CASES:
        (advice,) = examine(bad).advice
        for words in (advice.seen, advice.threshold, advice.remedy, advice.why):
            assert words and "  " not in words, name
            assert not words.endswith("."), name


def test_what_forbids_comes_first_and_then_the_greatest_gain():
    machine = quiet(
        plan=plan(481, threads=HALVES),
        listeners={8765: "python3 (pid 1)"},
        watched=watched(steal_s=1.0),
        remains=(folder("stackrace-00000001", guarded=True), folder("stackrace-00000002", pids=(7, 8))),
    )
    examination = examine(machine)
    assert [advice.check for advice in examination.advice] == [
        "file descriptors",
        "another race",
        "steal",
        "leftovers",
        "shared threads",
        "ports taken",
    ]
    assert examination.forbidden
    gains = [list(Gain).index(advice.gain) for advice in examination.advice]
    assert gains == sorted(gains)
    assert examination.advice[0].gain is Gain.DECISIVE


def test_leftover_processes_are_named_in_the_command():
    (advice,) = examine(quiet(remains=(folder("stackrace-00000002", pids=(7, 8)),))).advice
    assert advice.command == "kill 7 8; rm -r /tmp/stackrace-00000002"
    assert "1 run directory and 2 processes:" in advice.seen


def test_a_setting_wanted_twice_is_changed_once():
    machine = quiet(plan=plan(time_wait=20_000, tw_reuse=0), settings=settings(**{"net.ipv4.tcp_tw_reuse": "0"}))
    keys = [change.key for change in examine(machine).changes]
    assert sorted(keys) == ["net.ipv4.ip_local_port_range", "net.ipv4.tcp_tw_reuse"]


def test_a_kernel_without_a_setting_is_not_told_to_change_it():
    (advice,) = examine(quiet(plan=plan(accept_queue=128), settings={}, governors=())).advice
    assert advice.changes == ()


def test_a_small_disk_that_is_all_but_full_forbids_a_race_whatever_its_share():
    (advice,) = examine(quiet(disk_bytes=GIB, disk_free_bytes=255 * 2**20)).advice
    assert (advice.check, advice.gain) == ("disk nearly full", Gain.DECISIVE)


def test_commands_quote_what_the_shell_would_split():
    changes = (
        Change(key="net.ipv4.ip_local_port_range", before="1 2", after="10240 65535"),
        Change(key="vm.swappiness", before="60", after="1"),
        Change(key="/sys/a", before="x", after="y"),
        Change(key="/sys/b", before="x", after="y"),
    )
    sysctls, others = command_of(changes).split(" && ")
    assert sysctls == "sudo sysctl -w 'net.ipv4.ip_local_port_range=10240 65535' vm.swappiness=1"
    assert others == "echo y | sudo tee /sys/a /sys/b"
