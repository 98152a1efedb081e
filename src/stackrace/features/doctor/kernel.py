"""The kernel's settings as files: sysctls below /proc/sys, the rest below /sys."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["BOOST", "CLOCKS", "NO_TURBO", "THP", "Kernel"]

THP = "/sys/kernel/mm/transparent_hugepage/enabled"
NO_TURBO = "/sys/devices/system/cpu/intel_pstate/no_turbo"
BOOST = "/sys/devices/system/cpu/cpufreq/boost"
CLOCKS = "/sys/devices/system/clocksource/clocksource0/available_clocksource"


class Kernel:
    """Reads and writes settings; ``root`` is another folder in tests."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root

    def read(self, key: str) -> str | None:
        """Return a setting's value; None where it does not exist or may not be read.

        White space is made single blanks. Where the file lists choices (``always [madvise] never``), it is the
        chosen one.
        """
        try:
            words = self._path(key).read_text(encoding="ascii", errors="replace").split()
        except OSError:
            return None
        chosen = [word[1:-1] for word in words if word.startswith("[") and word.endswith("]")]
        return chosen[0] if chosen else " ".join(words)

    def write(self, key: str, value: str) -> None:
        """Set a setting; raises OSError where that is forbidden or the value is no good."""
        descriptor = os.open(self._path(key), os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
        try:
            os.write(descriptor, f"{value}\n".encode("ascii"))
        finally:
            os.close(descriptor)

    def governors(self) -> tuple[str, ...]:
        """Return the keys of all frequency governors; none on most virtual machines.

        Source: Documentation/admin-guide/pm/cpufreq.rst, one policy for each set of cores that share a clock.
        """
        folder = self._path("/sys/devices/system/cpu/cpufreq")
        paths = sorted(folder.glob("policy*/scaling_governor"))
        return tuple(f"/{path.relative_to(self._root)}" for path in paths)

    def _path(self, key: str) -> Path:
        if key.startswith("/"):
            return self._root / key[1:]
        return self._root.joinpath("proc", "sys", *key.split("."))
