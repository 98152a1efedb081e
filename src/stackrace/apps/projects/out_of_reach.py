"""Why a file that looks like an app holds none: it is made where no server can import it, or cannot be read."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from pathlib import Path

from .callables import CodeIndex
from .code import content, syntax_error
from .frameworks import MENTIONED

__all__ = ["out_of_reach"]


def out_of_reach(path: Path, shown: str, index: CodeIndex) -> Iterator[str]:
    """Yield why the file at ``path``, which the user knows as ``shown``, holds no app, and what mends that."""
    if not MENTIONED.search(content(path) or b""):
        return
    if error := syntax_error(path):
        yield f"{shown}, line {error.lineno}, cannot be read by Python {platform.python_version()}: {error.msg}"
    elif made := index.out_of_reach(path):
        definition, expression = made
        yield (
            f"{shown}, line {definition.line}, makes a {definition.title} app where no server can import it; write "
            f'app = {expression} outside of functions and of if __name__ == "__main__"'
        )
