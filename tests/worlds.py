"""Worlds in which Stackrace runs, and what of a user's files a command changes there.

``python tests/worlds.py SCENE`` runs one command, in a view of files that nobody else has: a home, a project, and
empty folders for temporary files. It prints how that ended, and what differs afterwards. It needs root.
Source: docker-run(1), --security-opt; user_namespaces(7); sysvipc(7).
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

FILTER = str(Path(__file__).with_name("no_namespaces.py"))
FORBIDDING = (
    "echo 0 > /proc/sys/user/max_user_namespaces;"
    'exec setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin -- "$@"'
)
WORLDS = {
    "plain": [],
    "user namespaces forbidden": ["unshare", "--user", "--map-root-user", "sh", "-c", FORBIDDING, "sh"],
    "container": [sys.executable, FILTER],
    "container without Landlock": [sys.executable, FILTER, "--no-landlock"],
}
"""What stands before a command, by the name of its world."""
NOBODY = 65534
USERS = {"root": [], "nobody": ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]}

PLACE = Path("/srv")
HOME, PROJECT = PLACE / "home", PLACE / "home" / "code" / "project"
CACHE = PLACE / "cache"
SHARED = tuple(map(Path, ("/tmp", "/var/tmp", "/dev/shm")))
CHECKOUT = Path(__file__).parents[1]
"""It may lie in one of the folders that the scene replaces."""
THERE = (
    HOME / ".spelled",
    *(folder / "there" for folder in (HOME, PROJECT, HOME / ".cache", HOME / ".config", *SHARED)),
)
"""Files that are there before."""
COMMIT = "git init -q; git add .; git -c user.name=x -c user.email=x@localhost commit -qm 1; echo >> app.py"
KINDS = ("shm", "sem", "msg")


def changed(world: str, user: str, files: dict[str, str], *command: str, **environment: str) -> dict:
    """Run ``command`` in a project of ``files``; returns its ``code``, what it ``said``, and what ``differs``."""
    scene = {"world": world, "user": user, "files": files, "command": command, "environment": environment}
    done = subprocess.run(
        [
            "unshare",
            "--mount",
            "--ipc",
            "--propagation",
            "private",
            "--",
            sys.executable,
            __file__,
            json.dumps(scene),
        ],
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def listing() -> dict[str, list]:
    """Return what there is, in every detail: files by path, and what System V memory holds."""
    found = {}
    for place, folders, names in (each for top in (HOME, *SHARED) for each in os.walk(top)):
        folders[:] = [name for name in folders if Path(place, name) != CHECKOUT]
        for path in (Path(place, name) for name in (*folders, *names)):
            status = path.lstat()
            content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
            size = status.st_size if path.is_file() else 0
            times = status.st_mtime_ns
            found[str(path)] = [oct(status.st_mode), status.st_uid, status.st_gid, size, times, content]
    for kind in KINDS:
        for line in Path("/proc/sysvipc", kind).read_text().splitlines()[1:]:
            found[f"{kind} {line.split()[1]}"] = []
    return found


def mount(place: Path, mode: str) -> None:
    """Mount an empty file system in memory at ``place``; a checkout in it stays."""
    checkout, libc, bind = os.open(CHECKOUT, os.O_PATH), ctypes.CDLL(None), 0x5000
    assert not libc.mount(b"none", os.fsencode(place), b"tmpfs", 0, f"mode={mode}".encode())
    if CHECKOUT.is_relative_to(place):
        CHECKOUT.mkdir(parents=True)
        assert not libc.mount(f"/proc/self/fd/{checkout}".encode(), os.fsencode(CHECKOUT), None, bind, None)
    os.close(checkout)


def play(scene: dict) -> dict:
    """Set the scene, run the command, and return what became of it."""
    mount(PLACE, "755")
    for folder in SHARED:
        mount(folder, "1777")
    user = NOBODY if scene["user"] == "nobody" else os.geteuid()
    for name, content in scene["files"].items():
        file = PROJECT / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    for path in THERE:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("there")
    CACHE.mkdir()
    for path in (CACHE, HOME, *HOME.rglob("*"), *(path for path in THERE if path.parent in SHARED)):
        os.chown(path, user, user)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "TMPDIR"))},
        "HOME": str(HOME),
        "XDG_CACHE_HOME": str(CACHE),
        "XDG_DATA_HOME": str(CACHE),
        "UV_CACHE_DIR": str(CACHE / "uv"),
        **scene["environment"],
    }
    commit = ["sh", "-ec", COMMIT] if "check" in scene["command"] else ["true"]
    subprocess.run([*USERS[scene["user"]], *commit], cwd=PROJECT, env=environment, check=True)
    before = listing()
    done = subprocess.run(
        [*USERS[scene["user"]], *WORLDS[scene["world"]], *scene["command"]],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=900,
    )
    after = listing()
    differs = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    return {"code": done.returncode, "said": done.stdout + done.stderr, "differs": differs}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(play(json.loads(sys.argv[1]))))
