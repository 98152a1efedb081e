"""Connections to databases, counted in real processes."""

import os
import socket

from tests.core.measure.probe.children import child, says, tell

from stackrace.measure.probe import connections
from stackrace.measure.probe.connections import database_connections

CLIENTS = (
    "import socket; held = []; "
    "held += [socket.socket(socket.AF_UNIX) for _ in range(3)]; [one.connect({unix!r}) for one in held]; "
    "held += [socket.create_connection(('127.0.0.1', {port})) for _ in range(2)]; "
    "other = socket.socket(socket.AF_UNIX); other.connect({other!r}); say(); sys.stdin.read()"
)


def test_connections_over_both_kinds_of_socket_are_counted_and_no_others(tmp_path, monkeypatch):
    unix, other = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    monkeypatch.chdir(tmp_path)
    with unix, other, socket.create_server(("127.0.0.1", 0)) as tcp:
        for one, name in ((unix, ".s.PGSQL.5432"), (other, "app.sock")):
            one.bind(name)
            one.listen()
        port = tcp.getsockname()[1]
        monkeypatch.setattr(connections, "DATABASE_PORTS", frozenset({port}))
        code = CLIENTS.format(unix=".s.PGSQL.5432", other="app.sock", port=port)
        with child(code) as client:
            says(client)
            accepted = [*(unix.accept()[0] for _ in range(3)), *(tcp.accept()[0] for _ in range(2))]
            assert database_connections([client.pid]) == 5
            assert database_connections([os.getpid()]) == 0
            for one in accepted:
                one.close()
            tell(client)


def test_a_process_that_is_gone_holds_none():
    assert database_connections([2**22 + 1]) == 0
