"""What an installation of the wheel takes: seconds, megabytes of each distribution, and a --help.

python benchmarks/installing.py dist/stackrace-*.whl
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from importlib.metadata import distributions
from pathlib import Path

from startup import cost

UV = Path(sys.executable).with_name("uv")
MIB = 2**20


def main(wheel: Path) -> None:
    """Install ``wheel`` into an environment of its own, and print what came of it, largest distributions first."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "environment"
        begun = time.perf_counter()
        subprocess.run([UV, "venv", "--quiet", "--no-project", home], check=True)
        subprocess.run([UV, "pip", "install", "--quiet", "--python", home, wheel], check=True)
        took_s = time.perf_counter() - begun
        sizes = {
            each.metadata["Name"]: sum(Path(str(file.locate())).stat().st_size for file in each.files or ()) / MIB
            for each in distributions(path=[str(next((home / "lib").glob("python*/site-packages")))])
        }
        help_s, _ = cost(str(home / "bin" / "stackrace"), "--help", folder=folder)
    for name, size in sorted(sizes.items(), key=lambda pair: -pair[1]):
        print(f"{name:24}{size:8.1f} MiB")
    wheel_mib, whole_mib = wheel.stat().st_size / MIB, sum(sizes.values())
    print(f"wheel {wheel_mib:.1f} MiB (goal 6), installed {whole_mib:.0f} MiB (goal 120) in {took_s:.1f} s, "
          f"--help {1000 * help_s:.0f} ms (goal 150)")  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]))
