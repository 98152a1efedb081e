"""Golden texts: compared, shown where they differ, and rewritten where that is asked for."""

from __future__ import annotations

import difflib
import gzip
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

GOLDEN = Path(__file__).with_name("golden")
SHOWN = 60
"""So many lines of a difference are shown."""
WIDTH = 300
"""Of a line of it: pages have long ones."""
DIGITS = 9
"""Of a number in a document: the last ones depend on the processor's own order of adding."""


def assert_golden(name: str, text: str, places: Mapping[str, str] | None = None) -> None:
    """Compare ``text`` with the golden file ``name``; one that ends in .gz is kept compressed.

    ``places`` are paths of this run, each with the word that stands for it.
    """
    path = GOLDEN / name
    for place, word in (places or {}).items():
        text = text.replace(place, word)
    if os.environ.get("STACKRACE_UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_packed(text) if path.suffix == ".gz" else text.encode())
    known = path.read_bytes() if path.is_file() else b""
    wanted = (gzip.decompress(known) if path.suffix == ".gz" and known else known).decode()
    assert text == wanted, f"{_difference(wanted, text, name)}\nset STACKRACE_UPDATE_GOLDEN=1 if it is right"


def assert_page(name: str, page: Path) -> None:
    """Compare an HTML page with the golden one of ``name``; its style, with that of all pages of its kind."""
    style, text = "", page.read_text(encoding="utf-8")
    if found := re.search(r"<style>.*?</style>", text, re.DOTALL):
        style, text = found[0], text.replace(found[0], "<style>…</style>")
    assert_golden(f"{name}/page.html.gz", text)
    assert_golden(f"styles/{name.split('-')[0]}.css.gz", style)


def as_document(text: str) -> str:
    """Return a JSON document with its members in order, numbers rounded, a line each."""
    return json.dumps(_rounded(json.loads(text)), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def as_table(text: str) -> str:
    """Return CSV with its numbers rounded."""
    return re.sub(r"\d+\.\d+(?:e[-+]\d+)?", lambda found: repr(_rounded(float(found[0]))), text)


def _rounded(value: object) -> object:
    match value:
        case float():
            return float(f"{value:.{DIGITS}g}")
        case list():
            return [_rounded(each) for each in value]
        case dict():
            return {key: _rounded(each) for key, each in value.items()}
    return value


def _packed(text: str) -> bytes:
    return gzip.compress(text.encode(), 9, mtime=0)


def _difference(wanted: str, text: str, name: str) -> str:
    before, now = wanted.splitlines(), text.splitlines()
    lines = list(difflib.unified_diff(before, now, f"{name}, golden", "now", lineterm="", n=1))
    shown = [line if len(line) <= WIDTH else f"{line[:WIDTH]} …" for line in lines[:SHOWN]]
    rest = [f"… {len(lines) - SHOWN} more lines"] if len(lines) > SHOWN else []
    return "\n".join(["it differs:", *shown, *rest])
