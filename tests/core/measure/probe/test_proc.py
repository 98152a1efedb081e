"""Reading single processes."""

import os
from pathlib import Path

from tests.core.measure.probe.children import child, says, tell

from stackrace.measure.probe.cpu import process_cpu_ns
from stackrace.measure.probe.proc import read_process
from stackrace.measure.probe.sampler import pss_bytes

VANISHED = 2**22 + 7
"""Above the highest process id there can be."""


def test_our_own_process_is_told_rightly():
    process = read_process(os.getpid())
    assert process is not None
    assert (process.pid, process.parent, process.session) == (os.getpid(), os.getppid(), os.getsid(0))
    assert process.threads >= 1 and process.started > 0 and not process.zombie


def test_a_vanished_process_is_nothing_everywhere():
    assert read_process(VANISHED) is None
    assert process_cpu_ns(VANISHED) is None
    assert pss_bytes(VANISHED) == 0


def test_a_name_with_spaces_and_parentheses_does_not_shift_the_fields():
    rename = "open('/proc/self/comm', 'w').write('a) R 1 (b')"
    with child(f"{rename}; say(); sys.stdin.read()") as process:
        says(process)
        seen = read_process(process.pid)
    assert seen is not None
    assert (seen.name, seen.parent, seen.session) == ("a) R 1 (b", os.getpid(), process.pid)


def test_the_clock_of_another_process_advances_with_its_work_alone():
    with child("say(); sys.stdin.readline(); burn(0.05); say(time.process_time_ns()); sys.stdin.read()") as process:
        says(process)
        idle = process_cpu_ns(process.pid)
        tell(process)
        told_ns = int(says(process))
        seen_ns = process_cpu_ns(process.pid)
    assert idle is not None and seen_ns is not None
    assert idle < told_ns <= seen_ns


def test_memory_counts_what_was_touched():
    size = 20 << 20
    with child(f"say(); sys.stdin.readline(); x = b'x' * {size}; say(); sys.stdin.read()") as process:
        says(process)
        before = pss_bytes(process.pid)
        tell(process)
        says(process)
        assert pss_bytes(process.pid) - before >= size * 0.9


def test_shared_pages_count_once_for_all_who_share_them():
    size = 32 << 20
    body = f"""
x = b'x' * {size}
for _ in range(3):
    if os.fork() == 0:
        break
say()
sys.stdin.read()
"""
    with child(body) as process:
        for _ in range(4):
            says(process)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
        family = {process.pid, *map(int, children.split())}
        assert len(family) == 4
        assert size * 0.9 <= sum(map(pss_bytes, family)) < 2 * size
