"""Network namespaces that stand for machines, each with processes, an address, and perhaps a clock of its own."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

__all__ = ["QUIET", "Lab", "Machine", "lab", "why_no_lab"]

QUIET = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "10s",
}
"""Workers that look at themselves all the time use 2 % of a core while nothing is to be done, instead of 0.5 %."""

RELAY = Path(__file__).with_name("relay.py")
PYTHON = sys.executable
SCHEDULER_PORT = 8786
JOINED_S = 1800
WAIT = """
import sys, time
from distributed import Client
address, members, until_s = sys.argv[1], int(sys.argv[2]), time.monotonic() + int(sys.argv[3])
running = 0
while running < members:
    # a new client after a failure: the pauses between the tries of one double
    try:
        with Client(address, timeout=20) as client:
            while running < members:
                workers = client.scheduler_info(n_workers=-1)["workers"].values()
                joined = {worker["name"]: worker["status"] for worker in workers}
                running = [*joined.values()].count("running")
                assert time.monotonic() < until_s, f"not all have joined: {joined}"
                time.sleep(0.1)
    except OSError as error:
        assert time.monotonic() < until_s, f"the scheduler does not answer: {error}"
        time.sleep(0.1)
"""

_labs = itertools.count()


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=1800)


def why_no_lab() -> str | None:
    """Return why no namespaces can be made here, None where they can; it really tries."""
    for program in ("ip", "unshare"):
        if shutil.which(program) is None:
            return f"there is no `{program}` here"
    if os.geteuid() != 0:
        return "network namespaces need root"
    if not Path("/dev/net/tun").exists():
        return "there is no /dev/net/tun here"
    name = f"sr{os.getpid()}x"
    try:
        ip("netns", "add", name)
    except (subprocess.SubprocessError, OSError) as error:
        return f"no network namespace can be made: {error}"
    try:
        ip("-n", name, "link", "add", "veth0", "type", "veth", "peer", "name", "veth1")
        ip("-n", name, "link", "add", "br0", "type", "bridge")
        subprocess.run(["unshare", "-T", "--monotonic", "1", "true"], check=True, capture_output=True, timeout=1800)
    except (subprocess.SubprocessError, OSError) as error:
        return f"no veth pair, bridge or time namespace can be made: {error}"
    finally:
        ip("netns", "del", name)
    return None


def narrow(namespace: str, device: str, bytes_per_s: int) -> None:
    """Let no more out of ``device``. Source: tc-tbf(8)."""
    words = ("tbf", "rate", f"{8 * bytes_per_s}bit", "burst", "32kb", "latency", "50ms")
    subprocess.run(
        ["ip", "netns", "exec", namespace, "tc", "qdisc", "add", "dev", device, "root", *words],
        check=True, capture_output=True, timeout=1800,
    )  # fmt: skip


@cache
def has_tbf() -> bool:
    """Tell whether the kernel can narrow a link; it really tries."""
    name = f"sr{os.getpid()}t"
    ip("netns", "add", name)
    try:
        ip("-n", name, "link", "set", "lo", "up")
        narrow(name, "lo", 10**6)
    except (subprocess.SubprocessError, OSError):
        return False
    finally:
        ip("netns", "del", name)
    return True


@dataclass
class Machine:
    """One namespace; what it starts runs until the lab is closed."""

    lab: Lab
    name: str
    namespace: str
    address: str
    cores: str
    ahead_s: int
    port: str
    """Of the switch, to which it is linked."""
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def argv(self, *words: str) -> list[str]:
        """Return what runs ``words`` on this machine."""
        clock = ["unshare", "-T", "--monotonic", str(self.ahead_s), "--"] if self.ahead_s else []
        return ["ip", "netns", "exec", self.namespace, "taskset", "-c", self.cores, *clock, *words]

    def environment(self) -> dict[str, str]:
        dask = {"DASK_LOGGING__DISTRIBUTED": "warning", **QUIET}
        # no machine reaches an index: what is installed there comes from the cache of this one
        return {**os.environ, "UV_OFFLINE": "1", "STACKRACE_MACHINE": self.name, **dask}

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """Start ``words`` in a session of their own; what they write is in the lab's folder."""
        with (self.lab.folder / f"{self.name}.log").open("ab") as log:
            process = subprocess.Popen(
                self.argv(*words), stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                env=self.environment(), cwd=self.lab.folder, start_new_session=True,
            )  # fmt: skip
        self.started.append(process)
        return process

    def run(self, *words: str, timeout_s: float = 600) -> subprocess.CompletedProcess[str]:
        """Run ``words`` to their end."""
        return subprocess.run(
            self.argv(*words), capture_output=True, text=True, timeout=timeout_s,
            env=self.environment(), cwd=self.lab.folder,
        )  # fmt: skip

    def link(self, state: str) -> None:
        """Set the machine's link ``up`` or ``down``, at the switch: packets are lost, and nobody is told."""
        ip("-n", self.lab.switch, "link", "set", self.port, state)

    def connections_to(self, other: Machine) -> int:
        """Return how many connections from here to ``other`` stand. Source: proc_net_tcp(5)."""
        [pid, *_] = [pid for pid, _ in self.processes()]
        there = socket.inet_aton(other.address)[::-1].hex().upper()
        lines = Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]
        return sum(line.split()[2].startswith(there) and line.split()[3] == "01" for line in lines)

    def processes(self) -> list[tuple[int, str]]:
        """Return who runs on it: pids and command lines."""
        home = Path(f"/run/netns/{self.namespace}").stat().st_ino
        found = []
        for folder in Path("/proc").iterdir():
            with suppress(OSError):
                if folder.name.isdecimal() and (folder / "ns/net").stat().st_ino == home:
                    command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    if command:
                        found.append((int(folder.name), command))
        return found


class Lab:
    """Machines on one switch; everything is removed at the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.machines: list[Machine] = []
        self._prefix = f"sr{os.getpid()}n{next(_labs)}"
        self._relays: list[subprocess.Popen[bytes]] = []
        self._roles: list[tuple[Machine, str]] = []
        self.switch = f"{self._prefix}sw"
        self._net = f"10.{77 + os.getpid() % 100}.{os.getpid() % 250}"
        ip("netns", "add", self.switch)
        ip("-n", self.switch, "link", "add", "br0", "type", "bridge")
        ip("-n", self.switch, "link", "set", "br0", "up")

    def machine(
        self,
        name: str,
        *,
        cores: str = "0",
        ahead_s: int = 0,
        delay_s: float = 0.0,
        loss: float = 0.0,
        bytes_per_s: int = 0,
    ) -> Machine:
        """Make a machine; each of its packets is held back for ``delay_s`` on both of its ways, or lost.

        No more than ``bytes_per_s`` get through in either direction; with 0 as many as can.
        """
        number = len(self.machines) + 1
        namespace, port = f"{self._prefix}m{number}", f"p{number}"
        ip("netns", "add", namespace)
        made = Machine(self, name, namespace, f"{self._net}.{number}", cores, ahead_s, port)
        self.machines.append(made)
        if delay_s or loss or (bytes_per_s and not has_tbf()):
            ip("-n", namespace, "tuntap", "add", "dev", "eth0", "mode", "tap")
            ip("-n", self.switch, "tuntap", "add", "dev", port, "mode", "tap")
            words = [namespace, "eth0", self.switch, port, str(delay_s), str(loss), str(bytes_per_s)]
            self._relays.append(subprocess.Popen([PYTHON, str(RELAY), *words], start_new_session=True))
        else:
            ip("-n", namespace, "link", "add", "eth0", "type", "veth", "peer", "name", port, "netns", self.switch)
            if bytes_per_s:
                narrow(namespace, "eth0", bytes_per_s)
                narrow(self.switch, port, bytes_per_s)
        ip("-n", self.switch, "link", "set", port, "master", "br0", "up")
        ip("-n", namespace, "addr", "add", f"{made.address}/24", "dev", "eth0")
        ip("-n", namespace, "link", "set", "eth0", "up")
        ip("-n", namespace, "link", "set", "lo", "up")
        return made

    def cluster(self, scheduler: Machine, workers: dict[str, Sequence[Machine]]) -> str:
        """Start a scheduler, and a worker on each machine by its role; return the address once all have joined."""
        self._roles = [(machine, role) for role, machines in workers.items() for machine in machines]
        return self.whole(scheduler)

    def whole(self, scheduler: Machine) -> str:
        """Start whoever of the cluster is not there, and wait until all have joined; return the address."""
        address, is_whole = f"tcp://{scheduler.address}:{SCHEDULER_PORT}", True
        if not _runs(scheduler, "dask_scheduler"):
            # workers do not outlive their scheduler
            self.end(*(machine for machine, _ in self._roles))
            scheduler.start(
                PYTHON, "-m", "distributed.cli.dask_scheduler", "--host", scheduler.address, "--no-dashboard"
            )
        for machine, role in self._roles:
            if not _runs(machine, "dask_worker"):
                self.worker(machine, address, role)
                is_whole = False
        if not is_whole:
            self.joined(scheduler, address, len(self._roles))
        return address

    def worker(
        self, machine: Machine, scheduler: str, role: str, within: Sequence[str] = ()
    ) -> subprocess.Popen[bytes]:
        """Start a worker on ``machine``; ``within`` is what runs it, such as ``unshare``."""
        program = (PYTHON, "-m", "distributed.cli.dask_worker", scheduler)
        place = ("--host", machine.address, "--name", machine.name, "--resources", f"{role}=1")
        plain = ("--no-nanny", "--nthreads", "2", "--no-dashboard", "--death-timeout", str(JOINED_S))
        return machine.start(*within, *program, *place, *plain)

    def joined(self, coordinator: Machine, address: str, members: int) -> None:
        """Wait until so many ``members`` have joined."""
        words = (PYTHON, "-c", WAIT, address, str(members), str(JOINED_S))
        waited = coordinator.run(*words, timeout_s=2 * JOINED_S)
        said = "".join(f"\n{path.name}: {path.read_text()[-2000:]}" for path in self.folder.glob("*.log"))
        assert not waited.returncode, f"the cluster did not come about: {waited.stderr}{said}"

    def end(self, *machines: Machine) -> None:
        """End what runs on ``machines``, which stay."""
        for machine in machines:
            for pid, _ in machine.processes():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            for process in machine.started:
                process.wait(timeout=1800)
            machine.started.clear()

    def close(self) -> None:
        """End what was started, and remove every namespace."""
        self.end(*self.machines)
        for relay in self._relays:
            relay.kill()
            relay.wait(timeout=1800)
        for namespace in (*(machine.namespace for machine in self.machines), self.switch):
            ip("netns", "del", namespace)


def _runs(machine: Machine, program: str) -> bool:
    return any(program in text for _, text in machine.processes())


@contextmanager
def lab(folder: Path) -> Iterator[Lab]:
    """Yield a lab whose logs are in ``folder``; nothing of it is left afterwards."""
    made = Lab(folder)
    try:
        yield made
    finally:
        made.close()
