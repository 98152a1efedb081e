"""What stays when it should have gone, and who answers without being asked."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

from stackrace.deploy.local_machine import LocalMachine
from stackrace.deploy.machine import Launched, Retiring
from stackrace.deploy.privileges import unprivileged
from stackrace.stacks.stack import Stack

from .fault import Fault, fault, in_race
from .racing import liar, runs, told

_STRANGER = """
import socket, sys
listening = socket.socket()
listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
listening.bind(("127.0.0.1", int(sys.argv[1])))
listening.listen()
print(flush=True)
sys.stdin.read()
"""


class Haunted(LocalMachine):
    """Another program listens on the port of every stack, as one that an earlier race forgot might."""

    _stranger: subprocess.Popen[bytes] | None = None

    def launch(self, stack: Stack, timeout_s: float) -> Launched:
        """Start ``stack``, and the stranger beside it."""
        launched = super().launch(stack, timeout_s)
        port = self._up[stack.path].running.port
        command = [*unprivileged(), sys.executable, "-c", _STRANGER, str(port)]
        self._stranger = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._stranger.stdout is not None
        self._stranger.stdout.readline()
        return launched

    def retire(self, stacks: Sequence[Stack]) -> Retiring:
        """Stop ``stacks``; the stranger goes last."""
        try:
            return super().retire(stacks)
        finally:
            if self._stranger is not None:
                self._stranger.communicate()  # it ends with its input
                self._stranger = None


FAULTS: tuple[Fault, ...] = (
    told("ignores-term", "does not end when told to", "ignored the request to stop"),
    told("survivor", "leaves a process with a session of its own", "leftover processes", "leftover listener"),
    told("daemon", "leaves a process that holds nothing open", "leftover processes"),
    fault("stranger", "another program listens on the stack's port, too", "leftover listener",
          inject=lambda: in_race(runs(liar("shares-port"), machine=Haunted))),
)  # fmt: skip
