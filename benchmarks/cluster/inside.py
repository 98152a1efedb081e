"""What a coordinator measures of its engines; run on its machine of the lab, prints JSON.

python inside.py starts ADDRESS TIMES       how late each engine began each load, by its own clock
python inside.py cost ADDRESS COPIES        the coordinator's CPU time, each engine standing for so many
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from stackrace.features.cluster.cluster_options import ClusterRequest
from stackrace.features.cluster.connection import Connection
from stackrace.features.cluster.hosting import Hosted
from stackrace.features.cluster.members import assign_roles
from stackrace.features.cluster.remote_engines import Engines
from stackrace.features.cluster.worker_machine import WorkerMachine
from stackrace.measure.load import Load
from stackrace.race.request.request import RaceRequest
from stackrace.race.results.parts import Parts

STACK = "waitress:threads=8"
SLICES = 30
SLICE_S = 0.6
REWARM_S = 0.15


def race(folder: Path, address: str | None = None) -> RaceRequest:
    """Return the race that is prepared on the cluster's one host."""
    parts = Parts().having(ClusterRequest(cluster=address))
    return RaceRequest(folder=folder, bundled="django", parts=parts, stacks=(STACK,), concurrency=(4,))


@contextmanager
def racing(address: str, copies: int = 1) -> Iterator[tuple[Connection, Engines, WorkerMachine, Hosted]]:
    """Prepare a race on the cluster's one host, and launch its stack there."""
    request = race(Path.cwd(), address)
    with Connection(address) as connection:
        roles = assign_roles(connection.members(), request)
        engines = Engines(connection, roles.engines)
        engines.look_at_network(roles.hosts[0])
        if copies > 1:
            ways = engines.paths
            engines = Engines(connection, [replace(one, name=f"{one.name}.{copy}") for copy in range(copies)
                                           for one in roles.engines])  # fmt: skip
            engines.paths = tuple(replace(way, engine=f"{way.engine}.{copy}") for copy in range(copies)
                                  for way in ways)  # fmt: skip
        with WorkerMachine(connection, roles.hosts[0], engines) as machine:
            hosted = machine.open(request, 1)
            launched = machine.launch(hosted.plan.stacks[0], 30.0)
            assert launched.failure is None, launched.failure
            yield connection, engines, machine, hosted


def starts(address: str, times: int) -> object:
    """Return of each start how late each engine was by its own clock, and the offset that was taken for it."""
    found = []
    with racing(address) as (connection, engines, machine, hosted):
        load = Load(concurrency=4, duration_s=0.2)
        while len(found) < times:
            clocks = {member.name: connection.clock(member) for member in engines.members}
            observed = machine.load(hosted.plan.stacks[0], hosted.plan.workloads[0], load, 0.05)
            if any(connection.clock(member) != clocks[member.name] for member in engines.members):
                continue  # compared anew meanwhile, so it is not known which offset was taken
            found.append({
                share.name: {"late_s": share.late_s, "offset_s": clocks[share.name].offset_s,
                             "bound_s": clocks[share.name].error_s}
                for share in observed.result.engines
            })  # fmt: skip
    return found


def cost(address: str, copies: int) -> object:
    """Return the share of a core that the coordinator needs while slices are measured."""
    with racing(address, copies) as (_, engines, machine, hosted):
        load = Load(concurrency=2 * len(engines.members), duration_s=SLICE_S)
        own = wall = 0.0
        for _ in range(SLICES):
            cpu, begun = time.process_time(), time.perf_counter()
            observed = machine.load(hosted.plan.stacks[0], hosted.plan.workloads[0], load, REWARM_S)
            assert len(observed.result.engines) == len(engines.members)
            wall += time.perf_counter() - begun
            own += time.process_time() - cpu
    return {"engines": len(engines.members), "share": own / wall, "per_slice_s": own / SLICES,
            "slice_s": wall / SLICES}  # fmt: skip


def main() -> None:
    """Measure what is asked."""
    what, address, number = sys.argv[1:]
    print(json.dumps({"starts": starts, "cost": cost}[what](address, int(number))))


if __name__ == "__main__":
    main()
