"""Folders that tests and attacks make."""

import os


def write(folder, files):
    """Write ``files``, texts by path, below ``folder``; returns it."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def deepen(folder, depth=1500):
    """Make ``depth`` folders within each other below ``folder``: no path can name the last ones."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("deep", dir_fd=here)
        inner = os.open("deep", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
