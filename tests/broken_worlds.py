"""Machines that lack something: a disk with room, a device, a folder of the kernel's, a right, a limit.

Each is a shell script that breaks a mount namespace of its own and then runs the command. The machine itself stays
as it is. Source: unshare(1), mount(8), setpriv(1).
"""

from __future__ import annotations

import os
import shlex
import subprocess
from functools import cache
from pathlib import Path

import pytest

_TOOLS = (
    f"""
CHECKOUT={shlex.quote(str(Path(__file__).parents[1]))}
"""
    + """
set -e
# small FOLDER OPTIONS: a file system of its own
small() { mkdir -p "$1"; mount -t tmpfs -o "$2" small "$1"; }
# read_only FOLDER: an empty one that nobody can write to; a checkout in it stays
read_only() {
  exec 9<"$CHECKOUT"; mount -t tmpfs read_only "$1"
  case "$CHECKOUT" in
    "$1"/*) mkdir -p "$CHECKOUT"; mount --no-canonicalize --bind /proc/self/fd/9 "$CHECKOUT" ;;
  esac
  mount -o remount,ro "$1"; exec 9<&-
}
# full FOLDER: a file system without a free byte
full() { small "$1" size=64k; head -c 65536 /dev/zero >"$1/filling" || true; }
# another_home: /etc/passwd names a folder of the test as home, not the real one
another_home() {
  HERE=$(realpath "$TMPDIR/.."); mkdir "$HERE/home"
  awk -F: -v OFS=: -v id="$(id -u)" -v home="$HERE/home" '$3 == id { $6 = home } 1' /etc/passwd >"$HERE/passwd"
  mount --bind "$HERE/passwd" /etc/passwd
}
# devices LACKING: another /dev, without one
devices() {
  D=$(mktemp -d); mount -t tmpfs devices "$D"
  for each in null zero full random urandom tty; do
    if [ "$each" != "$1" ]; then touch "$D/$each"; mount --bind "/dev/$each" "$D/$each"; fi
  done
  ln -s /proc/self/fd "$D/fd"
  if [ "$1" != shm ]; then mkdir "$D/shm"; mount -t tmpfs shm "$D/shm"; fi
  mount --move "$D" /dev; rmdir "$D"
}
"""
)

STRANGER = "54321"
"""A user whom no file knows."""


def in_world(script: str, command: list[object], *, stranger: bool = False, namespaces: str = "") -> list[str]:
    """Return what runs ``command`` where ``script`` has broken the machine; skips the test where it cannot be.

    As a ``stranger`` it has no rights, and no entry in /etc/passwd. ``namespaces`` are more options of unshare(1).
    """
    words = [*_unshare(), *namespaces.split()]
    if words[1:] and subprocess.run([*words, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no namespaces here")
    if stranger and os.geteuid():
        pytest.skip("only root can become somebody else")
    drop = ["setpriv", "--reuid", STRANGER, "--regid", STRANGER, "--clear-groups"] if stranger else []
    return [*words, "bash", "-c", f'{_TOOLS}\n{script}\nexec "$@"', "world", *drop, *map(str, command)]


@cache
def _unshare() -> tuple[str, ...]:
    return ("unshare", "--mount") if os.geteuid() == 0 else ("unshare", "--user", "--map-root-user", "--mount")


def for_everybody(folder: Path) -> Path:
    """Let a stranger read, write and enter all below ``folder``, which is not below pytest's: those are private."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    return folder
