"""What is left after a stop, and what was there before."""

import os
import socket

from tests.unit.probe.children import child, says

from stackrace.probe import Snapshot, leftovers, listening, snapshot


def test_a_listener_and_a_process_are_seen_and_then_gone():
    body = "import socket; s = socket.create_server(('127.0.0.1', 0)); say(s.getsockname()[1]); sys.stdin.read()"
    before = snapshot(os.getpid())
    with child(body) as process:
        address = f"127.0.0.1:{says(process)}"
        left = leftovers(before, snapshot(os.getpid()))
        assert process.pid in left.processes
        assert address in left.listening
    after = leftovers(before, snapshot(os.getpid()))
    assert process.pid not in after.processes
    assert address not in after.listening


def test_nothing_left_is_false():
    nothing = Snapshot(processes=frozenset(), listening=frozenset())
    assert not nothing
    assert Snapshot(processes=frozenset({5}), listening=frozenset())
    assert Snapshot(processes=frozenset(), listening=frozenset({"127.0.0.1:80"}))


def test_connected_sockets_do_not_listen_and_ipv6_is_bracketed():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as one:
        assert "{}:{}".format(*server.getsockname()) in listening()
        assert "{}:{}".format(*one.getsockname()) not in listening()
    if socket.has_ipv6:
        with socket.create_server(("::1", 0), family=socket.AF_INET6) as server:
            assert f"[::1]:{server.getsockname()[1]}" in listening()
