"""How long it takes until services answer: made anew, and copied from their templates.

python benchmarks/services_start.py [ROUNDS]

The first start of each round has an empty cache: the data directory is made, kept, copied and started. The second
one copies and starts. `seeded` is the bundled app over the service, with a million rows through Django.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from stackrace.app.app import App
from stackrace.app.bundle import bundled
from stackrace.base.process.view import UNPROTECTED
from stackrace.deploy.environments import Environments, cache_folder
from stackrace.deploy.guard import Guard
from stackrace.deploy.preparing import unheard
from stackrace.deploy.seeding import Seeding
from stackrace.deploy.templates import Templates
from stackrace.stacks.services import services

SEED = """
from django.db import connection
from django.contrib.auth.models import Group
for start in range(0, 1_000_000, 10_000):
    Group.objects.bulk_create(Group(name=f"group {number}") for number in range(start, start + 10_000))
"""


def bring_up_s(name: str, cache: Path, seeded: bool) -> float:
    """Return the seconds until the service answers, with its data and on disk."""
    with Guard() as guard:
        beside = Seeding((name,), guard, (), Templates(cache, unheard))
        beside.data.mkdir()
        app = app_of(name, beside, seeded)
        begun = time.perf_counter()
        beside.bring_up(app)
        return time.perf_counter() - begun


def app_of(name: str, beside: Seeding, seeded: bool) -> App:
    """Return the bundled app in an environment with the service's driver."""
    ours = bundled()
    base = Path(sys._base_executable)  # type: ignore[attr-defined]
    python = Environments(cache_folder(), unheard).of_requirements(ours.requirements((name,)), base, UNPROTECTED)
    app = ours.app(python=python, data=beside.data)
    prepare = (*app.prepare, ("python", "manage.py", "shell", "-c", SEED)) if seeded else ()
    return replace(app, environment={**app.environment, **beside.environment}, prepare=prepare)


def report(name: str, what: str, rounds: int, seeded: bool) -> None:
    """Print the medians of ``rounds`` pairs and of their ratios."""
    anew, copied = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            anew.append(bring_up_s(name, Path(cache), seeded))
            copied.append(bring_up_s(name, Path(cache), seeded))
    ratio = statistics.median(one / other for one, other in zip(anew, copied, strict=True))
    first, second = statistics.median(anew), statistics.median(copied)
    print(
        f"  {name:10} {what:7} anew {first:6.2f} s   from a template {second:5.2f} s   {ratio:5.1f} ×", flush=True
    )


def main() -> None:
    """Measure every service that is installed here."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    print(f"time until a service answers, medians of {rounds}")
    for name, service in services().items():
        if not service.missing():
            report(name, "empty", rounds, seeded=False)
    for name in ("postgresql", "mariadb"):
        if not services()[name].missing():
            report(name, "seeded", rounds, seeded=True)


if __name__ == "__main__":
    main()
