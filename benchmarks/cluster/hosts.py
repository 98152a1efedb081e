"""How soon two hosts answer what one does."""

from __future__ import annotations

import time
from statistics import median

from .machines import laboratory
from .racing import command, install, report_of

RACES = 3
GOAL = 0.60


def hosts() -> bool:
    """Race a page that sleeps on one host and on two, and print the times; tells whether two take at most 60 %."""
    took = {1: [], 2: []}
    install()
    with laboratory() as lab:
        scheduler = lab.machine("scheduler")
        for many in took:
            engines = [lab.machine(f"engine-{many}{number}", cores=str(number)) for number in range(many)]
            machines = [lab.machine(f"host-{many}{number}", cores=str(number)) for number in range(many)]
            address = lab.cluster(scheduler, {"engine": engines, "stack": machines})
            for _ in range(RACES + 1):
                begun = time.monotonic()
                run = scheduler.run(*command(lab, address, "--budget", "4min"), timeout_s=400)
                wall_s = time.monotonic() - begun
                if run.returncode not in (0, 3):
                    raise SystemExit(run.stderr)
                document = report_of(lab, scheduler)
                race = document["race"]
                took[many].append(
                    (race["elapsed_s"], wall_s, 1 + max(one["block"] for one in document["launches"]))
                )
                print(f"  {many} host{'s' * (many > 1)}: exit code {run.returncode}, {document['answer']['kind']}, "
                      f"{race['elapsed_s']:.1f} s of the budget, {wall_s:.1f} s in all, "
                      f"{took[many][-1][2]} blocks", flush=True)  # fmt: skip
            lab.end(*engines, *machines, scheduler)
    # the first of each builds what later ones find
    one, two = (median(race[0] for race in races[1:]) for races in took.values())
    print(f"two hosts answer in {100 * two / one:.0f} % of the time of one   (goal: at most {100 * GOAL:.0f} %)")
    return two / one <= GOAL
