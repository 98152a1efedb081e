"""Faults that need a world of their own: a network namespace whose kernel settings are ours to break.

``python -m benchmarks.lies.apart NAME`` is what runs inside; it prints what was said as JSON.
"""

from __future__ import annotations

import fcntl
import json
import os
import resource
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from stackrace.measure.load import Load
from stackrace.measure.probe import network_limits
from stackrace.measure.resources import Resources
from stackrace.validity.observation import Preparation
from stackrace.validity.registry import examine_plan

from .fault import CannotInject, Found, in_verdict
from .racing import liar, observed

FEW_PORTS = (40_000, 40_199)
ROOT = Path(__file__).parents[2]
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1


def in_namespace(name: str) -> Found:
    """Return what the fault called ``name`` here brings about in a network namespace of its own.

    Source: unshare(1), network_namespaces(7); needs root.
    """
    command = ["unshare", "--net", sys.executable, "-m", "benchmarks.lies.apart", name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotInject(f"no network namespace: {done.stderr.strip().splitlines()[-1:]}")
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


def before_start(load: Load, *, connections_per_s: float = 0.0) -> Found:
    """Return what is said of this machine before a race of ``load`` starts."""
    usable = tuple(sorted(os.sched_getaffinity(0)))
    plan = Preparation(
        loads=(load,),
        cores=Resources(stack_cores=usable[:-1] or usable, generator_cores=usable[-1:]),
        limits=network_limits(),
        connections_per_s=connections_per_s,
    )
    return in_verdict(examine_plan(plan))


def few_ports() -> Found:
    """More connections are planned than there are ports."""
    _narrow()
    return before_start(Load(concurrency=500))


def ports_held() -> Found:
    """Most ports are still held by connections that ended a moment ago."""
    _narrow()
    with socket.create_server(("127.0.0.1", 9999)) as listening:
        for _ in range(150):
            with socket.create_connection(("127.0.0.1", 9999)) as client:
                accepted, _ = listening.accept()
                client.shutdown(socket.SHUT_RDWR)
                accepted.close()
    return before_start(Load(concurrency=8))


def ports_exhausted() -> Found:
    """A new connection for every request, and no port comes back for a minute."""
    _narrow()
    Path("/proc/sys/net/ipv4/tcp_tw_reuse").write_text("0")
    return observed(liar("truth"), Load(concurrency=8, keep_alive=False, duration_s=1.0))


def short_queue() -> Found:
    """The kernel cuts every backlog to 16."""
    _up()
    Path("/proc/sys/net/core/somaxconn").write_text("16")
    return before_start(Load(concurrency=100))


def few_files() -> Found:
    """One process may open 256 files."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    return before_start(Load(concurrency=250))


def _narrow() -> None:
    _up()
    low, high = FEW_PORTS
    Path("/proc/sys/net/ipv4/ip_local_port_range").write_text(f"{low} {high}")


def _up() -> None:
    """Bring the loopback device up, as ``ip link set lo up`` does. Source: netdevice(7)."""
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _IFF_UP))


INSIDE: Mapping[str, Callable[[], Found]] = {
    "few-ports": few_ports,
    "ports-held": ports_held,
    "ports-exhausted": ports_exhausted,
    "short-queue": short_queue,
    "few-descriptors": few_files,
}

if __name__ == "__main__":
    print(json.dumps(dict(INSIDE[sys.argv[1]]())))
