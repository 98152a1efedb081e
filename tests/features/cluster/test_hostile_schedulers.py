"""What listens at a scheduler's address and is none: an error in time and bounded memory; Ctrl-C at any moment."""

import signal
import socket
import struct
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

from stackrace.base.errors import InputError
from stackrace.features.cluster import connection

HANDSHAKE = {"compression": None, "python": (3, 11, 2), "pickle-protocol": 5}


def endlessly(peer, chunk):
    while True:
        peer.sendall(chunk)


def half_a_scheduler(peer):
    connection._heard(peer)
    connection._send(peer, HANDSHAKE)


def not_a_scheduler(peer):
    half_a_scheduler(peer)
    connection._heard(peer)
    connection._send(peer, {"type": "Worker"})


PEERS = {
    "silent": lambda peer: None,
    "junk": lambda peer: peer.sendall(b"\xff" * 1000),
    "a huge length": lambda peer: peer.sendall(struct.pack("Q", 2**62) + b"x"),
    "a billion frames": lambda peer: peer.sendall(struct.pack("QQ", 2**20, 2**40) + bytes(2**20)),
    "zeros without end": lambda peer: endlessly(peer, bytes(2**16)),
    "text without end": lambda peer: endlessly(peer, b"a" * 2**16),
    "closes": lambda peer: peer.close(),
    "an http server": lambda peer: peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "half a scheduler": half_a_scheduler,
    "another member": not_a_scheduler,
}


@pytest.fixture
def peer(request):
    """The port of what answers as told, and what is set once it was asked."""
    listener, asked, kept = socket.create_server(("127.0.0.1", 0)), threading.Event(), []

    def serve():
        with suppress(OSError):
            while True:
                kept.append(listener.accept()[0])
                asked.set()
                with suppress(OSError):
                    PEERS[request.param](kept[-1])

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield listener.getsockname()[1], asked
    listener.close()
    for each in kept:
        each.close()


@pytest.mark.parametrize("peer", PEERS, indirect=True)
def test_a_peer_that_is_no_scheduler_gets_an_error_with_the_way_out(peer, monkeypatch):
    monkeypatch.setattr(connection, "CONNECT_S", 1.0)
    with pytest.raises(InputError, match=r"--cluster tcp://.*no Dask scheduler answers there .*; start one with"):
        connection.Connection(f"tcp://127.0.0.1:{peer[0]}")


@pytest.mark.parametrize("peer", ["silent"], indirect=True)
def test_control_c_ends_the_waiting_at_once(peer):
    port, asked = peer
    command = [sys.executable, "-m", "stackrace", "cluster", f"tcp://127.0.0.1:{port}"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as waiting:
        assert asked.wait(600)
        waiting.send_signal(signal.SIGINT)
        said = waiting.communicate(timeout=1800)[1]
    assert (waiting.returncode, said.strip()) == (130, "interrupted")
