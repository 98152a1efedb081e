"""A file, read by the app if no front end serves it."""

from pathlib import Path

FILE = Path(__file__).parents[2] / "static" / "hello.txt"


def lookup():
    """Return the file's text without the newline that every answer gets."""
    return FILE.read_text(encoding="utf-8").removesuffix("\n")
