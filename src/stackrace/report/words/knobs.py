"""How a remedy names what its reader can turn: keys of a race file, or flags of ``stackrace load``.

The checks are the same for both; what is measured, and by which name its knobs go, is not.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LOAD", "RACE", "Knobs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Knobs:
    """The phrases that differ. Each fits into a sentence where the checks use it."""

    server: str
    """What is measured."""
    servers: str
    """All that is measured in turn."""
    span: str
    """The stretch of time that was measured."""
    again: str
    """The command to give once more, as a verb."""
    concurrency: str
    clients: str
    """What an error about too many clients begins with."""
    keep: str
    """How to have connections kept."""
    close: str
    """How to have them closed."""
    own_core: str
    """What to do where engine and server share a core."""
    intruder: str
    """What to do with whatever else runs on the engine's core."""
    another_core: str
    """How to give the engine more than it has."""
    heavier: str
    """What to do where the engine has all it can get."""
    longer: str
    """How to measure for longer."""
    quieter: str
    """What helps against a machine whose cores are taken away now and then."""
    memory: str
    """How to allow a stack less memory."""
    meant_quota: str
    """What else to do about a CPU quota, where it can be declared; follows another remedy."""


RACE = Knobs(
    server="stack",
    servers="stacks",
    span="slice",
    again="race",
    concurrency="[load] concurrency",
    clients="--concurrency (or [load] concurrency)",
    keep="set keep_alive = true in [load]",
    close="keep_alive = false in [load], so that all stacks connect anew",
    own_core="give the load engine a core that no stack uses",
    intruder="end it (if the app needs it, name it in [app] services)",
    another_core="move a core from the stacks to the load engine, or let it run on another machine",
    heavier="race a workload that costs the app more, or on a machine with more cores",
    longer="longer slices (--slice 2s)",
    quieter="use a machine with dedicated CPUs, or a larger [race] budget",
    memory="--memory",
    meant_quota='; or declare it to be part of the race ("quota = true" in [race], --quota)',
)

LOAD = Knobs(
    server="server",
    servers="server",
    span="run",
    again="load",
    concurrency="--concurrency",
    clients="--concurrency",
    keep="leave out --close",
    close="--close, so that every request connects anew",
    own_core="bind the server to other cores (taskset), or let the engine run on another machine",
    intruder="if it is the server, bind that to other cores (taskset)",
    another_core="give the engine another core with --threads, or let it run on another machine",
    heavier="ask for a page that costs the server more, or load from a machine with more cores",
    longer="a longer run (--duration)",
    quieter="use a machine with dedicated CPUs, or load again in a quieter hour",
    memory="--memory",
    meant_quota="",
)
