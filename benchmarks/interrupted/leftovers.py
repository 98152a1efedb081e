"""What a verb left that it should not have: processes, files, or a file that ends in its middle."""

from __future__ import annotations

import json
import os
import sqlite3
import time
import tomllib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil

from .verbs import Verb
from .world import World

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
