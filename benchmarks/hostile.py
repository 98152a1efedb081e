"""Hostile apps, repositories, texts, peers and machines: nothing of theirs runs unasked, changes, hangs or shows.

    python -m benchmarks.hostile [--world NAME …] [--attack TEXT …] [--jobs 2]

Each attack is made anew in folders of its own, run in every world (as root and as nobody, where namespaces are
allowed and where they are forbidden, in a container's filter of system calls), and held against what was there
before: project, home, shared folders, System V memory, processes. Prints a table of attacks and worlds: ``ok``, or
the number of a fault, which is told below. Exits with 1 where there is one. It takes some ten minutes as root.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from tests.worlds import NOBODY, USERS, WORLDS

from stackrace.deploy.sockets import free_port

from .attacks import ATTACKS, Attack
from .trials import Trial, peers

ROOT = Path(__file__).parents[1]
BRIEF = [sys.executable, str(ROOT / "tests" / "brief.py")]
AS = {f"{user}, {world}": [*before, *prefix] for user, before in USERS.items() for world, prefix in WORLDS.items()}
"""What stands before a command, by user and world."""
SHARED = ("/tmp", "/var/tmp", "/dev/shm")
FAULT = r"lease report this|File \"[^\"]*/stackrace/(?!app/examiner/)"
"""A traceback is the app's own, or none."""
LEFT_S = 5.0
"""How long what was started may take to be gone."""


def listing(*folders: Path) -> dict[str, tuple[object, ...]]:
    """Return what lies in ``folders``: type and mode, owner, size, time of change and content by path."""
    found: dict[str, tuple[object, ...]] = {}
    for folder in folders:
        for place, inner, names in os.walk(folder):
            if len(place) > 3000:
                inner.clear()
                continue
            for path in (Path(place, name) for name in (".", *inner, *names)):
                look = path.lstat()
                digest = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(look.st_mode) else ""
                found[str(path)] = (look.st_mode, look.st_uid, look.st_gid, look.st_size, look.st_mtime_ns, digest)
    return found


def attacked(attack: Attack, prefix: list[str], cache: Path, *, is_nobody: bool, is_open: bool) -> list[str]:
    """Make ``attack`` in one world; return what went wrong."""
    folder = Path(tempfile.mkdtemp(prefix="h", dir="/tmp"))
    trial = Trial(folder=folder, prefix=prefix)
    try:
        folder.chmod(0o755)
        for path in (trial.project, trial.home, folder / "tmp", folder / "data"):
            path.mkdir()
        words = attack.make(trial)
        if is_nobody:
            subprocess.run(["chown", "-Rh", f"{NOBODY}:{NOBODY}", str(folder)], check=True)
        before = listing(trial.project, trial.home)
        said, code, took_s = called(trial, words, cache, attack.within_s)
        faults = []
        if took_s > attack.within_s:
            faults.append(f"took more than {attack.within_s:.0f} s")
        elif code not in attack.codes:
            faults.append(f"exit code {code}: {said[-300:]}")
        if found := re.search(FAULT, said):
            faults.append(f"said {found[0]!r}: {said[-300:]}")
        if attack.hides and (where := shown(attack.hides, said, folder / "data")):
            faults.append(f"showed the secret in {where}")
        if trial.ran.exists():
            faults.append(f"ran {' '.join(sorted(set(trial.ran.read_text().split())))}")
        faults += changed(before, listing(trial.project, trial.home))
        faults += left(trial, said, is_open=is_open)
        return faults
    finally:
        subprocess.run(["rm", "-rf", str(folder)], check=False)


def called(trial: Trial, words: list[str], cache: Path, within_s: float) -> tuple[str, int, float]:
    """Run the command in the trial's world; return what it said, its exit code, and how long it took."""
    environment = {
        **os.environ, "HOME": str(trial.home), "TMPDIR": str(trial.folder / "tmp"), "BLOCKS": "1",
        "XDG_DATA_HOME": str(trial.folder / "data"), "XDG_CACHE_HOME": str(cache), "TRIAL": trial.mark,
        "UV_CACHE_DIR": str(cache / "uv"), "OPENBLAS_NUM_THREADS": "1", **trial.variables,
    }  # fmt: skip
    words = [word.replace("{port}", str(free_port())) for word in words]
    command = [*trial.prefix, *([*words, "sh", *BRIEF] if words[0] == "sh" else [*BRIEF, *words])]
    begun = time.monotonic()
    process = subprocess.Popen(
        command, cwd=trial.project, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    try:
        output = process.communicate(timeout=within_s)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output = process.communicate()[0]
        return output.decode(errors="replace"), process.returncode, within_s + 1
    return output.decode(errors="replace"), process.returncode, time.monotonic() - begun


def changed(before: dict[str, tuple[object, ...]], after: dict[str, tuple[object, ...]]) -> list[str]:
    """Return what of a listing is not as it was."""
    other = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    return [f"changed {', '.join(other[:4])}"] if other else []


def shown(secret: str, said: str, kept: Path) -> str:
    """Return where the secret is shown or kept; empty for nowhere."""
    if re.search(secret, said):
        return "its output"
    pattern = re.compile(secret.encode())
    return next((str(path) for path in kept.rglob("*") if path.is_file() and pattern.search(path.read_bytes())), "")


def shared_memory(size: int) -> set[str]:
    """Return the ids of the System V segments of ``size`` bytes."""
    lines = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    return {words[1] for words in map(str.split, lines) if words[3] == str(size)}


def left(trial: Trial, said: str, *, is_open: bool) -> list[str]:
    """Return what is left of the trial: processes, run directories, files in shared folders, System V memory."""
    faults = []
    until = time.monotonic() + LEFT_S
    while (alive := living(trial.mark)) and time.monotonic() < until:
        time.sleep(0.1)
    if alive:
        faults.append(f"left processes: {', '.join(alive)}")
        for pid in alive:
            with suppress(OSError):
                os.kill(int(pid), signal.SIGKILL)
    if folders := [path.name for path in (trial.folder / "tmp").iterdir()]:
        faults.append(f"left in TMPDIR: {', '.join(folders)}")
    if files := [str(path) for place in SHARED for path in Path(place).glob(f"{trial.mark}*")]:
        # without Landlock nothing holds a literal path off, and semaphores lie in shared memory: both are named
        unnamed = [path for path in files if not is_open and not path.startswith("/dev/shm/")]
        if unnamed or trial.mark not in said:
            faults.append(f"left {', '.join(unnamed[:4] or files[:4])}")
        for path in files:
            Path(path).unlink(missing_ok=True)
    if segments := shared_memory(trial.size):
        if not all(each in said for each in segments):
            faults.append("left System V memory")
        for each in segments:
            subprocess.run(["ipcrm", "-m", each], check=False, capture_output=True)
    return faults


def living(mark: str) -> list[str]:
    """Return the ids of processes that have the trial's variable."""
    alive = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            with suppress(OSError):
                if f"TRIAL={mark}".encode() in (place / "environ").read_bytes():
                    alive.append(place.name)
    return alive


def main() -> int:
    """Make all attacks in all worlds and print the table; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", action="append", choices=list(AS), help="Default: all.")
    parser.add_argument(
        "--attack", action="append", metavar="TEXT", help="Attacks whose names hold it. Default: all."
    )
    parser.add_argument("--jobs", type=int, default=2, help="Attacks at once. Default: 2.")
    given = parser.parse_args()
    worlds = given.world or list(AS)
    attacks = {name: each for name, each in ATTACKS.items() if any(text in name for text in given.attack or [""])}
    caches = {
        is_nobody: Path(tempfile.mkdtemp(prefix="hostile-cache-", dir="/var/tmp")) for is_nobody in (False, True)
    }
    os.chown(caches[True], NOBODY, NOBODY)
    for cache in caches.values():
        cache.chmod(0o755)
    begun, wrong = time.monotonic(), []

    def trial(name: str, world: str) -> str:
        is_nobody = world.startswith("nobody")
        faults = attacked(
            attacks[name], AS[world], caches[is_nobody], is_nobody=is_nobody, is_open="without" in world
        )
        if not faults:
            return "ok"
        wrong.append(f"{name}, {world}: {'; '.join(faults)}")
        print(wrong[-1], file=sys.stderr, flush=True)
        return f"({len(wrong)})"

    width = max(map(len, attacks))
    for number, world in enumerate(worlds, 1):
        print(f"[{number}] {world}")
    print(" " * width, *(f"[{number}]".rjust(6) for number in range(1, len(worlds) + 1)))
    try:
        with peers(), ThreadPoolExecutor(given.jobs) as pool:
            rows = {name: [pool.submit(trial, name, world) for world in worlds] for name in attacks}
            for name, row in rows.items():
                print(name.ljust(width), *(each.result().rjust(6) for each in row), flush=True)
    finally:
        for cache in caches.values():
            shutil.rmtree(cache, ignore_errors=True)
    for number, words in enumerate(wrong, 1):
        print(f"\n({number}) {words}")
    count = len(attacks) * len(worlds)
    print(f"\n{count - len(wrong)} of {count} held, in {time.monotonic() - begun:.0f} s")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
