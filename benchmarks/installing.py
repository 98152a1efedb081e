"""What an installation of the wheel takes: seconds, megabytes of each distribution, and the first --help.

python benchmarks/installing.py dist/stackrace-*.whl
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import Distribution, distributions
from pathlib import Path

from rig.tables import line

UV = Path(sys.executable).with_name("uv")
RUNS = 9
MIB = 2**20
MOST_WHEEL_MIB, MOST_INSTALLED_MIB, MOST_HELP_S = 6, 120, 0.15
WIDTHS = (-24, 8)


def size_of(distribution: Distribution) -> int:
    """Return the bytes of all files of a distribution."""
    paths = (Path(str(distribution.locate_file(file))) for file in distribution.files or ())
    return sum(path.stat().st_size for path in paths if path.is_file())


def help_s(home: Path) -> float:
    """Return the median seconds of ``stackrace --help``, after one that compiles."""
    spent = []
    for _ in range(RUNS + 1):
        begun = time.perf_counter()
        subprocess.run([home / "bin" / "stackrace", "--help"], check=True, capture_output=True)
        spent.append(time.perf_counter() - begun)
    return statistics.median(spent[1:])


def main(wheel: Path) -> None:
    """Install ``wheel`` into an environment of its own, and print what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "environment"
        begun = time.perf_counter()
        subprocess.run([UV, "venv", "--quiet", "--no-project", home], check=True)
        subprocess.run([UV, "pip", "install", "--quiet", "--python", home, wheel], check=True)
        took_s = time.perf_counter() - begun
        found = distributions(path=[str(next((home / "lib").glob("python*/site-packages")))])
        sizes = {each.metadata["Name"]: size_of(each) for each in found}
        for name, size in sorted(sizes.items(), key=lambda pair: -pair[1]):
            if size >= MIB:
                print(line((name, f"{size / MIB:.1f}"), WIDTHS))
        wheel_mib, whole_mib, first_s = wheel.stat().st_size / MIB, sum(sizes.values()) / MIB, help_s(home)
    print(f"wheel {wheel_mib:.1f} MiB (goal {MOST_WHEEL_MIB}), installed {whole_mib:.0f} MiB "
          f"(goal {MOST_INSTALLED_MIB}) in {took_s:.1f} s with uv's cache as it is, "
          f"--help {1000 * first_s:.0f} ms (goal {1000 * MOST_HELP_S:.0f})")  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]))
