"""Which servers an app talks to, seen in a process of its own: its hook cannot be taken away."""

import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

EXAMINER = Path(__file__).parents[4] / "src" / "stackrace" / "app"

CODE = """
import ctypes, os, socket, sys
sys.path.insert(0, sys.argv[1])
from examiner.writing import Watch
watch = Watch()
{}
print(watch.addresses())
"""


def places(code, *arguments):
    """What a process sees that runs ``code`` between watching and asking."""
    command = [sys.executable, "-c", CODE.format(textwrap.dedent(code)), str(EXAMINER), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, start_new_session=True)
    return eval(done.stdout)


@pytest.fixture(params=["127.0.0.1", "::1"])
def server(request):
    family = socket.AF_INET6 if ":" in request.param else socket.AF_INET
    with socket.create_server((request.param, 0), family=family) as listening:
        yield request.param, str(listening.getsockname()[1])


def written(server):
    host, port = server
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def test_what_python_connected_to_is_seen_though_it_is_closed(server):
    code = "socket.create_connection((sys.argv[2], int(sys.argv[3]))).close()"
    assert places(code, *server) == [written(server)]


def test_connections_that_no_python_code_made_are_seen_while_they_last(server):
    code = """
        import subprocess
        child = subprocess.Popen(["bash", "-c", 'exec 3<>"/dev/tcp/$0/$1"; echo; read -u 3', *sys.argv[2:]],
                                 stdout=subprocess.PIPE)
        child.stdout.readline()
        told = watch.addresses()
        child.kill()
        child.wait()
        watch.addresses = lambda: told
    """
    assert places(code, *server) == [written(server)]


def test_a_unix_socket_is_a_path_and_datagrams_are_nothing(tmp_path):
    path = str(tmp_path / "s.sock")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        code = """
            socket.socket(socket.AF_UNIX).connect(sys.argv[2])
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("127.0.0.1", 9))
        """
        assert places(code, path) == [path]
