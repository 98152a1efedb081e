"""Work in a thread of its own: Ctrl-C at any point neither loses nor hangs it."""

import sys
import threading

import pytest

from stackrace.base.process import Background


def test_its_result_is_had_as_often_as_it_is_asked_for():
    work = Background(lambda: 7)
    assert [work.finish(), work.finish()] == [7, 7]
    assert work.wait(0)


def test_its_error_is_raised_where_it_is_waited_for():
    with pytest.raises(LookupError):
        Background(lambda: {}["nothing"]).finish()


def interrupted(act, at):
    """Call ``act``, interrupted where Python has come to its ``at``-th step; tells whether it came so far."""
    steps = 0

    def trace(frame, event, argument):
        nonlocal steps
        if frame.f_code is act.__code__:
            return trace
        frame.f_trace_opcodes = True
        steps += 1
        if steps == at:
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(before)
    return steps >= at


def test_whoever_waits_may_be_interrupted_at_any_step():
    def wait():
        work.wait(0.001)

    def finish():
        done.append(work.finish())

    at, came_so_far = 0, True
    while came_so_far:
        at += 1
        gate, done = threading.Event(), []
        work = Background(gate.wait)
        came_so_far = interrupted(wait, at)
        gate.set()
        # elsewhere, since it may hang
        other = threading.Thread(target=finish, daemon=True)
        other.start()
        other.join(600)
        assert done == [True], f"interrupted at step {at}, it never ends"
    assert at > 5
