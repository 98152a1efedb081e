"""Host facts and limits."""

import os
import resource

from stackrace.measure.probe import host, host_facts, network_limits


def test_facts_of_this_machine_are_complete():
    facts = host_facts()
    assert facts.system and facts.kernel and facts.cpu and facts.python.split()[1][0] == "3"
    assert facts.cores == len(os.sched_getaffinity(0))
    assert facts.memory_bytes > 1 << 20
    assert facts.limits["RLIMIT_NOFILE"] <= facts.limits["RLIMIT_NOFILE.hard"]
    assert facts.limits["net.ipv4.ip_local_port_range.low"] < facts.limits["net.ipv4.ip_local_port_range.high"]
    assert facts.limits["net.core.somaxconn"] > 0


def test_the_system_is_named_with_or_without_quotes():
    assert host._system('ID=debian\nPRETTY_NAME="Debian GNU/Linux 12"\n') == "Debian GNU/Linux 12"
    assert host._system("PRETTY_NAME=Alpine\n") == "Alpine"
    assert host._system("") == "Linux"


def test_the_processor_is_named_by_model_or_architecture():
    assert host._cpu("processor : 0\nmodel name\t: Some   CPU @ 2GHz\n") == "Some CPU @ 2GHz"
    assert host._cpu("processor : 0\n") == os.uname().machine


def test_a_guest_is_known_by_its_flag():
    assert "virtual machine" in host._virtual("flags : fpu hypervisor sse\n")


def test_limits_are_those_of_this_process():
    limits = network_limits()
    assert limits.descriptors == resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert limits.descriptors <= limits.descriptors_hard
    assert 0 < limits.ephemeral_ports < 65536
    assert limits.tw_reuse in (0, 1, 2)
