"""Threads of one core, as /sys tells them."""

from stackrace.measure.probe import physical_cores


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
    import os

    usable = os.sched_getaffinity(0)
    assert sorted(cpu for core in physical_cores(usable) for cpu in core) == sorted(usable)
