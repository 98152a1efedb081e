"""Start a verb, end it at some moment, and look at what became of it and what it left."""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import pty
import random
import select
import signal
import sqlite3
import subprocess
import tempfile
import termios
import threading
import time
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path

import psutil

from .verbs import VERBS, Verb
from .world import FIRST_LINE, World, hear, world_of

GONE_S = 30.0
_COMPLETE = ".stackrace-complete"


def left_behind(world: World, files: set[str], strangers: set[int]) -> str:
    """Return what is still there after a while, but for ``files`` and ``strangers``; empty for nothing."""
    until = time.monotonic() + GONE_S
    while (rest := [*_files(world, files), *_processes(strangers)]) and time.monotonic() < until:
        time.sleep(0.1)
    return f"left behind: {rest}" if rest else ""


def _files(world: World, known: set[str]) -> Iterator[str]:
    yield from (str(path) for path in world.temporary.iterdir())
    yield from (path.name for path in world.project.iterdir() if path.name not in known)
    yield from (str(path) for path in world.cache.glob("stackrace/environments/*") if _is_unfinished(path))


def _is_unfinished(environment: Path) -> bool:
    return environment.is_dir() and not (environment / _COMPLETE).exists()


def _processes(strangers: set[int]) -> Iterator[str]:
    """Yield who descends from us, as orphans do here."""
    for process in psutil.Process().children(recursive=True):
        if process.pid in strangers:
            continue
        try:
            if process.status() != psutil.STATUS_ZOMBIE:
                yield f"{process.pid} {' '.join(process.cmdline())[:100]}"
            elif process.ppid() == os.getpid():
                os.waitpid(process.pid, 0)
        except (psutil.NoSuchProcess, ChildProcessError):
            continue


def half_written(world: World, verb: Verb) -> str:
    """Return which files of ``verb`` or of the store are not whole; empty for none."""
    made = [world.project / verb.makes] if verb.makes and (world.project / verb.makes).exists() else []
    return "; ".join(filter(None, map(_trouble, (*made, *world.data.rglob("*.*")))))


def _trouble(path: Path) -> str:
    text = path.read_bytes()
    try:
        match path.suffix:
            case ".toml":
                whole = "app" in tomllib.loads(text.decode())
            case ".har" | ".json":
                whole = bool(json.loads(text))
            case ".html":
                whole = text.rstrip().endswith(b"</html>")
            case ".sqlite3":
                with closing(sqlite3.connect(path)) as store:
                    whole = store.execute("PRAGMA integrity_check").fetchone() == ("ok",)
                    whole = whole and not store.execute("PRAGMA foreign_key_check").fetchone()
            case _:
                whole = path.suffix in (".sqlite3-wal", ".sqlite3-shm")
    except (ValueError, sqlite3.Error) as error:
        return f"{path}: {error}"
    return "" if whole else f"{path} is not whole ({len(text)} bytes)"


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
