"""Budgets held for real: what a process is confined to before it begins, and servers that want more memory."""

import os
import shutil
import signal
import time
from pathlib import Path

import pytest
from tests.integration.scripted import CORES, WORKLOAD, here_of, launcher_of, servers_of, serving, stack_of
from tests.integration.test_guard import spawn

from stackrace.deploy.confinement import Confinement
from stackrace.deploy.launcher import LaunchFailed
from stackrace.deploy.shutdown import stop
from stackrace.measure.launch import FailureKind
from stackrace.measure.load import Load
from stackrace.measure.resources import Resources

MIB = 2**20
# the stacks of threads are memory, too
ALONE = "Listener = http.server.HTTPServer\n"
SERVERS = servers_of({
    "frugal": serving(ALONE),
    # three processes, each within the budget: together they are not
    "family": serving(
        ALONE + "os.fork(); os.fork()\nheld = b'x' * (48 << 20)\n"
        "if os.getpid() != os.getpgrp(): time.sleep(1000)\n"
    ),
    # once bound to fewer cores, it leaves them, as who is born just then does
    "loose": serving(
        ALONE + "import pathlib, threading\ncores = os.sched_getaffinity(0)\n"
        "pathlib.Path(os.environ['TMPDIR'], 'pid').write_text(str(os.getpid()))\n"
        "def leave():\n"
        "    while os.sched_getaffinity(os.getpid()) == cores: time.sleep(0.01)\n"
        "    time.sleep(0.3)\n"
        "    os.sched_setaffinity(os.getpid(), cores)\n"
        "threading.Thread(target=leave, daemon=True).start()\n"
    ),
    "greedy": serving(ALONE + "held = b'x' * (400 << 20)\n"),
})  # fmt: skip


def until(condition):
    while not condition():
        time.sleep(0.01)


def launcher(guard, confinement):
    return launcher_of(guard, SERVERS, cores=CORES[:1], confinement=confinement)


def stack(name):
    return stack_of(name, SERVERS)


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """A folder shaped like a delegated group, so that the kernel's part is played by files."""
    made = Path.mkdir

    def mkdir(folder, *arguments, **keywords):
        made(folder, *arguments, **keywords)
        if folder.parent == tmp_path:
            for name in ("memory.max", "memory.oom.group", "memory.events", "cpuset.cpus", "cgroup.procs"):
                (folder / name).write_text("")

    monkeypatch.setattr(Path, "mkdir", mkdir)
    rmdir = Path.rmdir
    monkeypatch.setattr(Path, "rmdir", lambda path: shutil.rmtree(path) if path.parent == tmp_path else rmdir(path))
    return tmp_path


def test_a_process_is_in_its_group_before_it_begins(guard, tmp_path):
    group = tmp_path / "group"
    group.mkdir()
    shown = tmp_path / "shown"
    pid = spawn(guard, tmp_path, "sh", "-c", f"cat {group}/cgroup.procs > {shown}", group=group)
    until(lambda: guard.status([pid])[pid].code is not None)
    assert shown.read_text() == str(pid)


def test_a_group_that_is_gone_is_an_error_of_that_launch(guard, groups):
    lost = launcher(guard, Confinement(memory_bytes=64 * MIB, folder=groups / "no"))
    with pytest.raises(LaunchFailed, match="control group cannot be made: No such file"):
        lost.launch(stack("frugal"))
    assert list(guard.directory.glob("l*")) == []


def test_a_process_alone_may_hold_so_much_where_there_are_no_groups(guard):
    up = launcher(guard, Confinement(memory_bytes=64 * MIB)).launch(stack("frugal"))
    ((_, pid),) = up.parts
    (line,) = (one for one in Path(f"/proc/{pid}/limits").read_text().splitlines() if one.startswith("Max data"))
    assert line.split()[3:5] == [str(64 * MIB)] * 2
    assert stop(guard, [up]) == {}


def test_a_stack_lives_in_a_group_of_its_own_and_the_group_goes_with_it(guard, groups):
    one = launcher(guard, Confinement(memory_bytes=64 * MIB, folder=groups)).launch(stack("frugal"))
    ((_, pid),) = one.parts
    folder = one.group.folder
    assert (folder / "cgroup.procs").read_text() == str(pid)
    assert (folder / "memory.max").read_text() == str(64 * MIB)
    assert (folder / "cpuset.cpus").read_text() == str(CORES[0])
    assert stop(guard, [one]) == {}
    assert not folder.exists()


def test_what_the_kernel_ended_for_its_memory_says_so(guard, groups):
    held = launcher(guard, Confinement(memory_bytes=2**30, folder=groups))
    up = held.launch(stack("frugal"))
    ((_, pid),) = up.parts
    (up.group.folder / "memory.events").write_text("max 9\noom 1\noom_kill 1\noom_group_kill 1\n")
    os.kill(pid, signal.SIGKILL)
    until(lambda: held.failure_of(up) is not None)
    failure = held.failure_of(up)
    assert (failure.kind, failure.message) == (FailureKind.DIED, "exceeded its memory limit of 1 GiB")
    assert stop(guard, [up]) == {}


def test_one_process_that_wants_more_than_the_budget_does_not_start(guard):
    with pytest.raises(LaunchFailed) as failed:
        launcher(guard, Confinement(memory_bytes=128 * MIB)).launch(stack("greedy"))
    assert failed.value.failure.kind is FailureKind.NOT_STARTED
    assert "MemoryError" in failed.value.failure.log


@pytest.mark.exhaustive
def test_processes_that_exceed_the_budget_together_are_out(guard):
    budget = Resources(stack_cores=CORES[:1], generator_cores=CORES[-1:], memory_bytes=128 * MIB)
    held = launcher(guard, Confinement(memory_bytes=budget.memory_bytes))
    here = here_of(held, budget)
    for name in ("frugal", "family"):
        assert here.launch(stack(name), 120.0).failure is None
        here.load(stack(name), WORKLOAD, Load(concurrency=1, duration_s=1.0), 0.0)
    assert here.failure_of(stack("frugal")) is None
    failure = here.failure_of(stack("family"))
    assert failure.kind is FailureKind.DIED
    assert failure.message.startswith("exceeded its memory limit of 128 MiB: its processes held ")
    here.retire([stack("frugal"), stack("family")]).finish()


@pytest.mark.skipif(len(CORES) < 2, reason="needs a second core to escape to")
def test_who_escaped_its_cores_is_bound_again_before_it_is_measured(guard):
    budget = Resources(stack_cores=CORES[:1], generator_cores=CORES[-1:])
    here = here_of(launcher(guard, Confinement()), budget)
    assert here.launch(stack("loose"), 120.0).failure is None
    (written,) = Path(guard.directory).rglob("pid")
    pid = int(written.read_text())
    until(lambda: os.sched_getaffinity(pid) == set(CORES))
    here.load(stack("loose"), WORKLOAD, Load(concurrency=1, duration_s=0.2), 0.0)
    assert os.sched_getaffinity(pid) == {CORES[0]}
    here.retire([stack("loose")]).finish()
