"""A machine without fault, to be changed in the one place a test is about, and a kernel made of files."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from stackrace.features.doctor.kernel import THP, Kernel
from stackrace.features.doctor.look import Surroundings
from stackrace.measure.host import HostFacts, MachineDelta, NetworkLimits
from stackrace.measure.load import Load
from stackrace.measure.resources import Resources
from stackrace.validity.observation import Preparation

GOVERNORS = tuple(f"/sys/devices/system/cpu/cpufreq/policy{n}/scaling_governor" for n in range(2))
GIB = 2**30


def plan(concurrency: int = 100, **changes: Any) -> Preparation:
    usual = Preparation(
        loads=(Load(concurrency=concurrency, duration_s=1.0),),
        cores=Resources(stack_cores=(0, 1, 2), generator_cores=(3,)),
        limits=NetworkLimits(
            descriptors=1024,
            descriptors_hard=1_048_576,
            ephemeral_ports=28_232,
            time_wait=0,
            tw_reuse=2,
            accept_queue=4096,
        ),
    )
    limits = {limit.name: changes.pop(limit.name) for limit in fields(NetworkLimits) if limit.name in changes}
    return replace(usual, limits=replace(usual.limits, **limits), **changes)


def watched(**changes: Any) -> MachineDelta:
    return replace(MachineDelta(elapsed_s=2.0, cores=4, busy_s=0.02, own_s=0.01, clocksource="tsc"), **changes)


def settings(**changes: str) -> dict[str, str]:
    usual = {
        "net.core.somaxconn": "4096",
        "net.ipv4.ip_local_port_range": "32768 60999",
        "net.ipv4.tcp_tw_reuse": "2",
        "vm.swappiness": "60",
        "kernel.nmi_watchdog": "0",
        THP: "madvise",
    }
    return usual | dict.fromkeys(GOVERNORS, "performance") | changes


def quiet(**changes: Any) -> Surroundings:
    """Bare metal with four cores, no swap, 16 GiB, nothing running."""
    usual = Surroundings(
        host=HostFacts(
            system="Debian GNU/Linux 12", kernel="6.1.0", cpu="Example CPU", cores=4, memory_bytes=16 * GIB,
            virtual="", python="CPython 3.11.2", limits={},
        ),
        plan=plan(),
        watched=watched(),
        settings=settings(),
        governors=GOVERNORS,
        memory_free_bytes=12 * GIB,
        disk=Path("/tmp"),
        disk_bytes=100 * GIB,
        disk_free_bytes=60 * GIB,
        delegated=True,
        clocks=("tsc", "hpet"),
    )  # fmt: skip
    return replace(usual, **changes)


def kernel_of(root: Path, values: dict[str, str]) -> Kernel:
    """Write ``values`` as the files a kernel would have below ``root``."""
    for key, value in values.items():
        path = root / key[1:] if key.startswith("/") else root.joinpath("proc", "sys", *key.split("."))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{value}\n", encoding="ascii")
    return Kernel(root)
