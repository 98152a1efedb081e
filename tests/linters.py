"""Linters of the field, as they come with the development group."""

import subprocess
import sys
from pathlib import Path

BIN = Path(sys.executable).parent


def lint(*command):
    """Run a linter; it must find nothing."""
    done = subprocess.run([str(BIN / command[0]), *map(str, command[1:])], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
