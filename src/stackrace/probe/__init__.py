"""The probe: what the machine is and does, and what a stack costs, by hop. Linux only."""

from .allowance import Allowance
from .host import host_facts
from .leftovers import Snapshot, leftovers, listening, snapshot
from .limits import NetworkLimits, network_limits, open_descriptors
from .machine import MachineCounters, difference, read_machine
from .processes import descendants
from .sampler import Sampler
from .watch import MemoryWatch

__all__ = [
    "Allowance",
    "MachineCounters",
    "MemoryWatch",
    "NetworkLimits",
    "Sampler",
    "Snapshot",
    "descendants",
    "difference",
    "host_facts",
    "leftovers",
    "listening",
    "network_limits",
    "open_descriptors",
    "read_machine",
    "snapshot",
]
