"""Why a file that looks like an app holds none: it is made where no server can import it, or cannot be read."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from pathlib import Path

from ..app import EntryKind
from .callables import CodeIndex
from .code import content, syntax_error
from .frameworks import IMPLIED, MENTIONED

__all__ = ["out_of_reach"]


def out_of_reach(
    path: Path, shown: str, index: CodeIndex, command: Callable[[EntryKind, str], str]
) -> Iterator[str]:
    """Yield why the file at ``path``, which the user knows as ``shown``, holds no app, and what mends that.

    ``command`` gives what races an app by its interface and its name in that file.
    """
    if not MENTIONED.search(content(path) or b""):
        if unknown := index.unknown(path):
            line, name = unknown
            asgi, wsgi = (command(kind, name) for kind in (EntryKind.ASGI, EntryKind.WSGI))
            yield f"{shown}, line {line}, makes {name} with an unknown package; try: {asgi}, or: {wsgi}"
        return
    if error := syntax_error(path):
        yield f"{shown}, line {error.lineno}, cannot be read by Python {platform.python_version()}: {error.msg}"
    elif implied := index.implied(path):
        line, name, is_run = implied
        package, giver = IMPLIED
        add = "" if name else f'add "from {package} import {giver}" there, '
        guard = f'put {package}.run(…) below if __name__ == "__main__", ' if is_run else ""
        then = command(EntryKind.WSGI, f"{name or giver}()")
        yield f"{shown}, line {line}, fills a {package.capitalize()} app that has no name; {add}{guard}then: {then}"
    elif made := index.out_of_reach(path):
        definition, expression = made
        yield (
            f"{shown}, line {definition.line}, makes a {definition.title} app where no server can import it; write "
            f'app = {expression} outside of functions and of if __name__ == "__main__", then: '
            + command(definition.kind, "app")
        )
