"""Start a verb, end it at some moment, and look at what became of it."""

from __future__ import annotations

import ctypes
import fcntl
import os
import pty
import random
import select
import signal
import subprocess
import tempfile
import termios
import threading
import time
from collections import Counter
from collections.abc import Collection
from pathlib import Path

import psutil

from .leftovers import half_written, left_behind
from .verbs import VERBS, Verb
from .world import FIRST_LINE, World, hear, world_of

FIRST_S = 0.05
PATIENCE_S = 90.0
_PR_SET_CHILD_SUBREAPER = 36


def interrupt_often(
    name: str, times: int, dice: random.Random, number: signal.Signals = signal.SIGINT
) -> tuple[list[str], Counter[int]]:
    """Return what was wrong each time, and how often each exit code came."""
    verb, faults, codes = VERBS[name], [], Counter[int]()
    # orphans come to us, so that none is overlooked
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory(prefix="interrupted") as folder, world_of(verb, Path(folder)) as world:
        longest_s = verb.endless_s or _measured_s(verb, world)
        files = {path.name for path in world.project.iterdir()} | {"__pycache__", verb.makes}
        strangers = {process.pid for process in psutil.Process().children(recursive=True)}
        for _ in range(times):
            world.reset(verb)
            after_s = dice.uniform(FIRST_S, longest_s)
            code, fault = _interrupt(verb, world, after_s, number)
            codes[code] += 1
            fault = fault or left_behind(world, files, strangers) or half_written(world, verb)
            faults += [f"after {after_s:.3f} of {longest_s:.3f} s: {fault}"] if fault else []
    return faults, codes


def _measured_s(verb: Verb, world: World) -> float:
    """Return how long it takes, left alone."""
    world.reset(verb)
    begun_s = time.monotonic()
    with _Attempt(verb, world) as attempt:
        code = attempt.process.wait(10 * PATIENCE_S)
    if code not in verb.codes:
        raise RuntimeError(f"{verb.words} ends with {code} by itself: {attempt.said[-2000:]}")
    return time.monotonic() - begun_s


def _interrupt(verb: Verb, world: World, after_s: float, number: signal.Signals) -> tuple[int, str]:
    """Run ``verb``, end it, and return its exit code and what was wrong with it, if anything."""
    with _Attempt(verb, world) as attempt:
        try:
            code = attempt.process.wait(after_s)
            allowed = verb.codes
        except subprocess.TimeoutExpired:
            attempt.end(number)
            allowed = (*verb.codes, *verb.ended, -number)
            try:
                code = attempt.process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                attempt.process.kill()
                return -9, f"did not end: {attempt.said[-300:]}"
    return code, fault_of(attempt.said, code, allowed)


def fault_of(said: str, code: int, allowed: Collection[int]) -> str:
    """Return what is wrong with how a verb ended; nothing that happens before it begins is."""
    if FIRST_LINE not in said:
        return ""
    if "Traceback" in said or "Exception ignored" in said:
        return f"a traceback: …{said[-1500:]}"
    return "" if code in allowed else f"exit code {code}: {said[-300:]}"


class _Attempt:
    """A verb in a terminal of its own; ``said`` is what it printed there."""

    def __init__(self, verb: Verb, world: World) -> None:
        self.said = ""
        self._hangs_up = False
        self._terminal, theirs = pty.openpty()
        try:
            self.process = subprocess.Popen(
                world.words(verb), cwd=world.project, env=world.environment, stdin=theirs, stdout=theirs,
                stderr=theirs, start_new_session=True, preexec_fn=_begin,
            )  # fmt: skip
        finally:
            os.close(theirs)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def __enter__(self) -> _Attempt:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self._hangs_up = True
        self._reader.join()

    def end(self, number: signal.Signals) -> None:
        """Press Ctrl-C, close the terminal, or send the signal."""
        match number:
            case signal.SIGINT:
                os.write(self._terminal, b"\x03")
            case signal.SIGHUP:
                self._hangs_up = True
            case _:
                self.process.send_signal(number)

    def _read(self) -> None:
        """Read until nobody writes any more, or until the terminal is to be closed and all is read."""
        while (readable := select.select([self._terminal], [], [], 0.02)[0]) or not self._hangs_up:
            try:
                self.said += os.read(self._terminal, 65536).decode(errors="replace") if readable else ""
            except OSError:  # EIO: the last one has closed it
                break
        while not self._hangs_up:
            time.sleep(0.02)
        os.close(self._terminal)


def _begin() -> None:
    hear()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
