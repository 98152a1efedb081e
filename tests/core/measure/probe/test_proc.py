"""Processes as the kernel tells of them, and the connections that they hold."""

import os
import socket
from pathlib import Path

import pytest
from tests.core.measure.probe.children import child, says, tell

from stackrace.base.process.processes import read_process
from stackrace.measure.probe import proc
from stackrace.measure.probe.kernel_counters import process_cpu_ns
from stackrace.measure.probe.proc import abandoned, clients, database_connections
from stackrace.measure.probe.sampler import _pss_bytes

VANISHED = 2**22 + 7
"""Above the highest process id there can be."""


@pytest.mark.parametrize("kind", ["tcp", "tcp6", "unix"])
def test_connections_whose_clients_have_gone_are_counted_until_the_server_closes_them(kind, tmp_path):
    path = str(tmp_path / "s")
    family, address = {
        "tcp": (socket.AF_INET, ("127.0.0.1", 0)),
        "tcp6": (socket.AF_INET6, ("::1", 0)),
        "unix": (socket.AF_UNIX, path),
    }[kind]
    with socket.socket(family) as listener:
        listener.bind(address)
        listener.listen()
        ports = set() if kind == "unix" else {listener.getsockname()[1]}
        with socket.socket(family) as served:
            served.connect(listener.getsockname())
            taken, _ = listener.accept()
            assert abandoned(ports, {path}) == 0
            with socket.socket(family) as waiting:
                waiting.connect(listener.getsockname())
        # one is served for nobody, the other was not even accepted
        assert abandoned(ports, {path}) == 2
        taken.close()
        assert abandoned(ports, {path}) == 1
        assert abandoned({1}, {"/nowhere"}) == 0
        listener.accept()[0].close()
        assert abandoned(ports, {path}) == 0


def test_the_clients_of_a_port_are_those_that_are_connected_to_it():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        address = listener.getsockname()
        with socket.create_connection(address) as one, socket.create_connection(address) as two:
            own = {one.getsockname()[1], two.getsockname()[1]}
            assert clients(port) == own
            assert clients(min(own)) == {port}
        assert clients(port) == frozenset()


def test_our_own_process_is_told_rightly():
    process = read_process(os.getpid())
    assert process is not None
    assert (process.pid, process.parent, process.session) == (os.getpid(), os.getppid(), os.getsid(0))
    assert process.threads >= 1 and process.started > 0 and process.lives


def test_a_vanished_process_is_nothing_everywhere():
    assert read_process(VANISHED) is None
    assert process_cpu_ns(VANISHED) is None
    assert _pss_bytes(VANISHED) == 0


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
        before = _pss_bytes(process.pid)
        tell(process)
        says(process)
        assert _pss_bytes(process.pid) - before >= size * 0.9


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
        assert size * 0.9 <= sum(map(_pss_bytes, family)) < 2 * size


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
        monkeypatch.setattr(proc, "_DATABASE_PORTS", frozenset({port}))
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
    assert database_connections([VANISHED]) == 0
