"""Tables in pages of the documentation that are written from code."""

import os
import re
from collections.abc import Sequence
from pathlib import Path


def holds(page: Path, part: str, lines: Sequence[str]) -> None:
    """Assert that ``page`` has ``lines`` between its marks for ``part``; STACKRACE_UPDATE_GOLDEN=1 writes them."""
    text = page.read_text(encoding="utf-8")
    found = re.search(rf"(<!-- {part}:[^\n]*-->\n)(.*?)(<!-- end -->)", text, re.DOTALL)
    assert found
    wanted = "\n".join(lines) + "\n"
    if os.environ.get("STACKRACE_UPDATE_GOLDEN"):
        page.write_text(text[: found.start(2)] + wanted + text[found.end(2) :], encoding="utf-8")
        return
    assert found[2] == wanted, "set STACKRACE_UPDATE_GOLDEN=1 if it is right"
