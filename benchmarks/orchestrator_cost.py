"""What the orchestrating Python spends while a slice is measured, as a share of one core.

    python benchmarks/orchestrator_cost.py

Ten stacks of one small WSGI app are up, as in a default race, and one of them is loaded for 0.6 s at a
time. The engine's own threads are left out: they are the load, not the orchestration.
"""

from __future__ import annotations

import sys
import tempfile
import textwrap
import time
from pathlib import Path

SLICES = 30
SLICE_S = 0.6
APP = """
def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"hello"]
"""


def main() -> None:
    """Bring ten stacks up, load one after the other, and print the orchestrator's share."""
    from stackrace.app.app import Entry, EntryKind
    from stackrace.measure.load import Load
    from stackrace.race.preparation.set_up import set_up
    from stackrace.race.request.request import RaceRequest

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "tiny.py").write_text(textwrap.dedent(APP), encoding="utf-8")
        request = RaceRequest(
            folder=Path(folder),
            entry=Entry(kind=EntryKind.WSGI, target="tiny:app"),
            python=Path(sys.executable),
            stacks=tuple(f"gunicorn:workers={1 + number}" for number in range(10)),
        )
        with set_up(request) as stage:
            machine = stage.machine()
            for stack in stage.stacks:
                launched = machine.launch(stack, 20.0)
                assert launched.failure is None, launched.failure
            load = Load(concurrency=10, duration_s=SLICE_S)
            own = engine = wall = 0.0
            for number in range(SLICES):
                cpu, begun = time.process_time(), time.perf_counter()
                observation = machine.load(stage.stacks[number % 10], stage.workloads[0], load, 0.15)
                wall += time.perf_counter() - begun
                own += time.process_time() - cpu
                engine += observation.result.generator_cpu_s * (SLICE_S + 0.15) / SLICE_S
            machine.retire(stage.stacks).finish()
    processes = sum(range(2, 12))
    print(f"orchestration during {SLICES} slices of {SLICE_S:g} s, 10 stacks up ({processes} processes)")
    print(f"  Python, engine left out   {100 * (own - engine) / wall:5.2f} % of one core   (goal: under 2 %)")
    print(f"  the engine's threads      {100 * engine / wall:5.2f} %")


if __name__ == "__main__":
    main()
