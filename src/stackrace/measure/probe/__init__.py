"""The probe: facts and counters of the machine, and resources that a stack uses, by hop. Linux only."""

from .host_reading import (
    allowed_cores,
    available_bytes,
    emulator,
    excluded_cores,
    host_facts,
    memory_bytes,
    network_limits,
    physical_cores,
    virtualisation,
)
from .kernel_counters import LOOK_S, cpu_by_process, offenders, unused_by_core, used_by_core, waited_s, waits_ns
from .machine_counters import MachineCounters, canary_ns, difference, read_machine
from .proc import abandoned, clients
from .sampler import Allowance, MemoryWatch, Sampler
from .thread_waits import ThreadWaits, ThreadWatch

__all__ = [
    "LOOK_S",
    "Allowance",
    "MachineCounters",
    "MemoryWatch",
    "Sampler",
    "ThreadWaits",
    "ThreadWatch",
    "abandoned",
    "allowed_cores",
    "available_bytes",
    "canary_ns",
    "clients",
    "cpu_by_process",
    "difference",
    "emulator",
    "excluded_cores",
    "host_facts",
    "memory_bytes",
    "network_limits",
    "offenders",
    "physical_cores",
    "read_machine",
    "unused_by_core",
    "used_by_core",
    "virtualisation",
    "waited_s",
    "waits_ns",
]
