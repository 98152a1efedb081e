"""Faults in the middle of races: no wrong figure may count, nothing may stay, the race must be had in the end."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from .racing import (
    Lab,
    Machine,
    beside_workers,
    command,
    counted,
    install,
    laboratory,
    report_of,
    resume,
    wrong_figures,
)

BUDGET = "40s"
ENDS_S = 150.0
GONE_S = 60.0


@dataclass(frozen=True, slots=True)
class Scene:
    """Machines of one race, which is under way."""

    lab: Lab
    scheduler: Machine
    engine: Machine
    host: Machine
    race: subprocess.Popen[bytes]


def worker_killed(scene: Scene) -> None:
    """End the worker that hosts the stacks."""
    _kill(scene.host, "dask_worker", signal.SIGKILL)


def link_cut(scene: Scene) -> None:
    """Cut the host off for 5 s."""
    scene.host.link("down")
    time.sleep(5)
    scene.host.link("up")


def scheduler_killed(scene: Scene) -> None:
    """End Dask's scheduler."""
    _kill(scene.scheduler, "dask_scheduler", signal.SIGKILL)


def coordinator_killed(scene: Scene) -> None:
    """End the process that the user started."""
    os.killpg(scene.race.pid, signal.SIGKILL)


def engine_stopped(scene: Scene) -> None:
    """Let the engine stand still for 1 s."""
    _kill(scene.engine, "dask_worker", signal.SIGSTOP)
    time.sleep(1)
    _kill(scene.engine, "dask_worker", signal.SIGCONT)


KINDS: dict[str, Callable[[Scene], None]] = {
    "worker killed": worker_killed,
    "link cut for 5 s": link_cut,
    "scheduler killed": scheduler_killed,
    "coordinator killed": coordinator_killed,
    "engine stopped 1 s": engine_stopped,
}


def faults(times: int, seed: int = 7) -> bool:
    """Do each of them so often, and print what came of it; tells whether nothing went wrong."""
    install()
    wrong = 0
    for kind, fault in KINDS.items():
        codes, found, slices, refused = Counter[str](), [], 0, 0
        dice = random.Random(f"{seed} {kind}")
        with laboratory() as lab:
            for _ in range(times):
                seen = _once(lab, fault, dice.uniform(0.2, 15))
                codes[seen.ended] += 1
                found += seen.wrong
                slices += seen.slices
                refused += seen.refused
        wrong += len(found)
        print(f"{kind:20} {times} times: {dict(codes)}, {slices} slices counted, {refused} refused, "
              f"{len(found)} faults", flush=True)  # fmt: skip
        for each in found:
            print(f"    {each}", flush=True)
    return not wrong


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of one fault."""

    ended: str
    wrong: list[str]
    slices: int
    refused: int


def _once(lab: Lab, fault: Callable[[Scene], None], after_s: float) -> Seen:
    scheduler, engine, host = lab.machines or (
        lab.machine("scheduler"), lab.machine("engine", cores="1"), lab.machine("host")
    )  # fmt: skip
    address = lab.cluster(scheduler, {"engine": [engine], "stack": [host]})
    race = scheduler.start(*command(lab, address, "--budget", BUDGET))
    wrong = []
    try:
        _until(lambda: any("gunicorn" in text for text in beside_workers(host)), 60, "no stack was launched")
        time.sleep(after_s)
        if race.poll() is not None:
            raise RuntimeError("the race was over before the fault")
        fault(Scene(lab, scheduler, engine, host, race))
        code = race.wait(timeout=ENDS_S)
        _until(lambda: not beside_workers(host) and not beside_workers(engine), GONE_S, "something was left")
        ended = f"exit code {code}"
        lab.end(scheduler, engine, host)
        if code not in (0, 3):
            lab.cluster(scheduler, {"engine": [engine], "stack": [host]})
            resumed = scheduler.run(*resume(lab), timeout_s=ENDS_S)
            ended += f", resumed {resumed.returncode}"
            if resumed.returncode not in (0, 3):
                said = (lab.folder / "scheduler.log").read_text(encoding="utf-8", errors="replace")[-600:]
                wrong.append(f"after {after_s:.1f} s: {said} … {resumed.stderr.strip()[-400:]}")
                return Seen(ended, wrong, 0, 0)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        said = (lab.folder / "scheduler.log").read_text(encoding="utf-8", errors="replace")[-600:]
        return Seen(str(error)[:40], [f"after {after_s:.1f} s: {error}; {said}"], 0, 0)
    finally:
        lab.end(scheduler, engine, host)
    document = report_of(lab, scheduler)
    wrong += [f"after {after_s:.1f} s: {each}" for each in wrong_figures(document)]
    slices = len(list(counted(document)))
    return Seen(ended, wrong, slices, sum(len(launch["slices"]) for launch in document["launches"]) - slices)


def _kill(machine: Machine, what: str, number: signal.Signals) -> None:
    for pid, text in machine.processes():
        if what in text:
            os.kill(pid, number)


def _until(condition: Callable[[], bool], timeout_s: float, otherwise: str) -> None:
    until = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > until:
            raise RuntimeError(otherwise)
        time.sleep(0.2)
