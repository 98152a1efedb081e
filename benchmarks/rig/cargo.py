"""The servers and loops that are written in Rust, built from the engine's examples."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]


def example(name: str) -> str:
    """Return the path of an example's executable; all of them are built once."""
    try:
        return _examples()[name]
    except KeyError:
        sys.exit(f"cargo built no example named {name}; look at crates/loadgen/examples")


@cache
def _examples() -> dict[str, str]:
    if shutil.which("cargo") is None:
        print("skipped: needs cargo")
        sys.exit(0)
    command = ["cargo", "build", "--release", "--package", "loadgen", "--examples", "--quiet"]
    built = subprocess.run(
        [*command, "--message-format=json-render-diagnostics"],
        cwd=_ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if built.returncode != 0:
        sys.exit("the engine's examples cannot be built; cargo says why above")
    messages = (json.loads(line) for line in built.stdout.splitlines())
    return {
        message["target"]["name"]: message["executable"]
        for message in messages
        if message["reason"] == "compiler-artifact" and message["executable"]
    }
