"""Doctor on the kernel we run on: looked at as it is, changed only in a network namespace of our own."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from stackrace.deploy.guard import Guard
from stackrace.features.doctor.all_advice import examine
from stackrace.features.doctor.kernel import Kernel
from stackrace.features.doctor.look import look, remains
from stackrace.measure.resources import Resources

IN_A_NAMESPACE = ("unshare", "--net", "--user", "--map-root-user", "--")

ROUND_TRIP = textwrap.dedent(
    """
    import json, sys
    from pathlib import Path
    from stackrace.features.doctor.advice import Change
    from stackrace.features.doctor.kernel import Kernel, Record, apply, undo

    kernel, record, key = Kernel(), Record(Path(sys.argv[1])), "net.core.somaxconn"
    before = kernel.read(key)
    wanted = str(int(before) + 1)
    (applied,) = apply(kernel, record, [Change(key=key, before=before, after=wanted)])
    seen = kernel.read(key)
    (undone,) = undo(kernel, record)
    print(json.dumps([before, wanted, applied.state, seen, undone.state, kernel.read(key), record.path.exists()]))
    """
)


def may_make_namespaces():
    return subprocess.run([*IN_A_NAMESPACE, "true"], capture_output=True).returncode == 0


def test_this_machine_can_be_looked_at():
    cores = tuple(sorted(os.sched_getaffinity(0)))
    seen = look(
        Kernel(), cores=Resources(stack_cores=cores, generator_cores=cores[-1:]), concurrency=1, watch_s=0.1
    )
    assert seen.memory_free_bytes > 0
    assert 0 < seen.disk_free_bytes <= seen.disk_bytes
    assert seen.settings["net.core.somaxconn"].isdigit()
    assert seen.watched.elapsed_s >= 0.1
    for advice in examine(seen).advice:
        assert advice.seen and advice.why


def test_a_real_sysctl_is_changed_and_put_back(tmp_path):
    if not may_make_namespaces():
        pytest.skip("this kernel or container makes no network namespaces for us")
    before_outside = Kernel().read("net.core.somaxconn")
    done = subprocess.run(
        [*IN_A_NAMESPACE, sys.executable, "-c", ROUND_TRIP, str(tmp_path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    before, wanted, applied, seen, undone, after, left = json.loads(done.stdout)
    assert (applied, seen) == ("done", wanted)
    assert (undone, after, left) == ("done", before, False)
    assert Kernel().read("net.core.somaxconn") == before_outside


def test_a_race_under_way_is_told_from_what_a_killed_one_left():
    with Guard() as guard:
        # it answers, so the kernel tells how it was called
        guard.status([])
        (found,) = remains([guard.directory])
        assert found.guarded
        assert guard.pid in found.pids
