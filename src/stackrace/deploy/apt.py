"""Debian's packages: whether they can be installed here, and installing them without starting their daemons."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress

from ..base.errors import InputError
from ..base.process import held

__all__ = ["apt_command", "by_hand", "can_install", "install_packages"]


def can_install() -> bool:
    """Tell whether Debian packages can be installed here without asking for a password."""
    if shutil.which("apt-get") is None:
        return False
    if os.geteuid() == 0:
        return True
    sudo = shutil.which("sudo")
    return sudo is not None and subprocess.run([sudo, "-n", "true"], capture_output=True).returncode == 0


def apt_command(packages: Sequence[str]) -> tuple[str, ...]:
    """Return the command that installs Debian ``packages`` here."""
    command = ("apt-get", "install", "-y", "--no-install-recommends", *packages)
    return command if os.geteuid() == 0 else ("sudo", "-n", *command)


def by_hand(packages: Sequence[str]) -> str:
    """Return the line that a user with a password types."""
    return f"sudo apt-get install --no-install-recommends {' '.join(packages)}"


def install_packages(packages: Sequence[str]) -> None:
    """Install Debian ``packages``. Daemons that they would start stay off.

    Raises InputError with the command to run by hand when root's rights are missing, or apt's own words.
    """
    if not packages:
        return
    if shutil.which("apt-get") is None:
        raise InputError(
            "there is no apt-get here; install with this system's own package manager what Debian calls: "
            f"{' '.join(packages)}"
        )
    if not can_install():
        raise InputError(
            f"installing Debian packages needs root or password-less sudo; run by hand: {by_hand(packages)}"
        )
    command = apt_command(packages)
    prefix = () if os.geteuid() == 0 else ("sudo", "-n")
    _finished([*prefix, "apt-get", "update", "-q"])
    # RUNLEVEL=1 makes invoke-rc.d leave the daemons off: they would take port 80 and CPU from the race
    environment = ("DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1")
    code, words = _finished([*prefix, "env", *environment, *command[len(prefix) :]])
    if code:
        raise InputError(f"{' '.join(command)} failed", detail=words.strip()[-2000:])


def _finished(command: Sequence[str]) -> tuple[int, str]:
    """Run ``command`` to its end, also after Ctrl-C, which it is told of; returns its exit code and what it said.

    Killed, it would leave packages half installed. It stays in our session: sudo may know us by our terminal.
    """
    with held() as signals:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        try:
            signals.release()
            return _outcome(process)
        except KeyboardInterrupt:
            signals.hold()
            with suppress(PermissionError):
                process.send_signal(signal.SIGINT)
            _outcome(process)
            raise


def _outcome(process: subprocess.Popen[str]) -> tuple[int, str]:
    words, _ = process.communicate()
    return process.returncode, words
