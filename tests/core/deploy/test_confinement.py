"""Control groups, in a private folder shaped like a hierarchy of version 2.

The files and what the kernel does to them are as Documentation/admin-guide/cgroup-v2.rst has it.
"""

import os
import shutil
from pathlib import Path

import pytest

from stackrace.deploy import confinement
from stackrace.deploy.confinement import Confinement, _delegated, _group_of, _NotDelegated

FILES = ("memory.max", "memory.swap.max", "memory.oom.group", "memory.events", "cpuset.cpus", "cgroup.procs")
EVENTS = "low 0\nhigh 0\nmax 12\noom 3\noom_kill {}\noom_group_kill 1\n"


@pytest.fixture
def hierarchy(tmp_path, monkeypatch):
    """A delegated group with this process in it; new folders get the files that the kernel puts there."""
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
    (tmp_path / "cgroup.subtree_control").write_text("")
    (tmp_path / "cgroup.procs").write_text(f"{os.getpid()}\n")
    made = Path.mkdir

    def mkdir(folder, *arguments, **keywords):
        made(folder, *arguments, **keywords)
        for name in FILES:
            (folder / name).write_text("")

    monkeypatch.setattr(Path, "mkdir", mkdir)
    monkeypatch.setattr(Path, "rmdir", shutil.rmtree)
    return tmp_path


def read(*path):
    return Path(*path).read_text().strip()


def test_this_process_moves_aside_while_the_group_has_groups_below_it_and_back_afterwards(hierarchy):
    aside = hierarchy / f"stackrace-{os.getpid()}"
    with _delegated(hierarchy):
        assert read(aside, "cgroup.procs") == str(os.getpid())
        assert read(hierarchy, "cgroup.subtree_control") == "+cpuset +memory"
    assert not aside.exists()
    assert read(hierarchy, "cgroup.procs") == str(os.getpid())
    assert read(hierarchy, "cgroup.subtree_control").startswith("-cpuset -memory")


def test_a_stack_gets_its_memory_at_once_and_its_cores_when_it_is_up(hierarchy):
    with _delegated(hierarchy) as folder:
        group = Confinement(folder=folder).group()
        group.bound(2**30)
        assert read(group.folder, "memory.max") == "1073741824"
        assert read(group.folder, "memory.swap.max") == "0"
        assert read(group.folder, "memory.oom.group") == "1"
        assert read(group.folder, "cpuset.cpus") == ""
        group.pin((0, 1, 2, 5))
        assert read(group.folder, "cpuset.cpus") == "0-2,5"
        assert Confinement(folder=folder).group().folder != group.folder
        group.remove()
        assert not group.folder.exists()


def test_a_kernel_without_swap_has_no_limit_for_it(hierarchy):
    with _delegated(hierarchy) as folder:
        group = Confinement(folder=folder).group()
        (group.folder / "memory.swap.max").unlink()
        group.bound(2**30)
        assert not (group.folder / "memory.swap.max").exists()


def test_a_group_that_cannot_be_bound_is_not_left_behind(hierarchy, monkeypatch):
    with _delegated(hierarchy) as folder:
        monkeypatch.setattr(confinement, "_write", lambda file, text: (_ for _ in ()).throw(PermissionError(file)))
        with pytest.raises(PermissionError):
            Confinement(memory_bytes=2**30, folder=folder).group()
        monkeypatch.undo()
        assert list(hierarchy.glob(f"stackrace-{os.getpid()}-*")) == []


@pytest.mark.parametrize(("events", "kills"), [(EVENTS.format(2), 2), (EVENTS.format(0), 0), ("", 0)])
def test_the_kernel_tells_whom_it_ended(hierarchy, events, kills):
    with _delegated(hierarchy) as folder:
        group = Confinement(folder=folder).group()
        (group.folder / "memory.events").write_text(events)
        assert group.oom_kills == kills
        (group.folder / "memory.events").unlink()
        assert group.oom_kills == 0


def test_controllers_that_children_have_already_are_left_alone(hierarchy):
    (hierarchy / "cgroup.subtree_control").write_text("cpuset memory\n")
    (hierarchy / "cgroup.procs").write_text("")
    with _delegated(hierarchy) as folder:
        assert list(hierarchy.glob("stackrace-*")) == []
        Confinement(folder=folder).group().remove()
    assert read(hierarchy, "cgroup.subtree_control") == "cpuset memory"


@pytest.mark.parametrize(
    ("file", "content", "why"),
    [
        ("cgroup.controllers", "cpu memory pids\n", "has no controller cpuset"),
        ("cgroup.controllers", "hugetlb\n", "has no controller cpuset and memory"),
        ("cgroup.procs", "1\n2\n", "other processes share"),
    ],
)
def test_what_is_not_delegated_is_said_and_nothing_is_changed(hierarchy, file, content, why):
    (hierarchy / file).write_text(content)
    with pytest.raises(_NotDelegated, match=why), _delegated(hierarchy):
        pass
    assert list(hierarchy.glob("stackrace-*")) == []
    assert read(hierarchy, "cgroup.subtree_control") == ""


def test_a_kernel_that_refuses_to_divide_the_group_leaves_everything_as_it_was(hierarchy, monkeypatch):
    write = confinement._write

    def busy(file, text):
        if file == hierarchy / "cgroup.subtree_control":
            raise OSError(16, "Device or resource busy")
        write(file, text)

    monkeypatch.setattr(confinement, "_write", busy)
    with pytest.raises(_NotDelegated, match="cannot be divided: Device"), _delegated(hierarchy):
        pass
    assert list(hierarchy.glob("stackrace-*")) == []
    assert read(hierarchy, "cgroup.procs") == str(os.getpid())


def test_a_busy_group_is_removed_once_the_kernel_noticed_that_it_is_empty(tmp_path, monkeypatch):
    answers = [OSError(16, "busy"), OSError(16, "busy"), None]

    def delete(folder):
        answer = answers.pop(0)
        if answer:
            raise answer

    monkeypatch.setattr(Path, "rmdir", delete)
    confinement.Group(tmp_path).remove()
    assert answers == []


def test_without_a_hierarchy_there_are_no_groups():
    with pytest.raises(_NotDelegated, match="not mounted"), _delegated(None):
        pass


MOUNTS = """\
25 30 0:23 / /sys rw,nosuid shared:7 - sysfs sysfs rw
29 25 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate
"""
HYBRID = """\
26 20 0:25 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
27 20 0:26 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
"""
BOUND = "29 25 0:26 /docker/ab /sys/fs/cgroup rw - cgroup2 cgroup rw\n"


@pytest.mark.parametrize(
    ("groups", "mounts", "folder"),
    [
        ("0::/user.slice/run-1.scope\n", MOUNTS, "/sys/fs/cgroup/user.slice/run-1.scope"),
        ("0::/\n", MOUNTS, "/sys/fs/cgroup"),
        ("4:memory:/a\n0::/b\n", HYBRID, "/sys/fs/cgroup/unified/b"),
        ("0::/docker/ab/c\n", BOUND, "/sys/fs/cgroup/c"),
        ("0::/docker/ab\n", BOUND, "/sys/fs/cgroup"),
        ("0::/elsewhere\n", BOUND, None),
        ("0::/../outside\n", MOUNTS, None),
        ("4:memory:/a\n", HYBRID, None),
        ("0::/a\n", "", None),
    ],
)
def test_a_process_finds_its_own_group(groups, mounts, folder):
    assert _group_of(groups, mounts) == (None if folder is None else Path(folder))
