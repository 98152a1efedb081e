"""How long a slice waits for stacks to come to rest."""

import os
from types import SimpleNamespace

from stackrace.deploy.here import REST_S, RESTLESS_S, Here
from stackrace.model.race import Budget


def test_a_stack_that_works_for_itself_is_waited_for_once_and_then_for_a_moment(monkeypatch):
    here = Here(
        guard=SimpleNamespace(pid=os.getpid()),
        launcher=None,
        cores=Budget(stack_cores=(0,), generator_cores=(0,)),
        beside=SimpleNamespace(pids={}),
        debug=False,
    )
    waits = []

    def wait(limit_s, look_s, quiet):
        waits.append(limit_s)
        return quiet

    for limit_s, quiet in ((2.0, False), (60.0, False), (60.0, False), (0.2, True), (60.0, True)):
        monkeypatch.setattr(here, "_quiet", lambda limit_s, look_s, quiet=quiet: wait(limit_s, look_s, quiet))
        here.rest(limit_s)
    # what the race's end cuts short says nothing of the stack
    assert waits == [2.0, REST_S, RESTLESS_S, 0.2, REST_S]
