"""Variables of a deployment that change how its processes run, whatever the app reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ....model.app import Entry, EntryKind
from ....model.current import CurrentGap
from ..deployment_command import line_with, shown, text_of
from ..settings import VARIABLE
from .hop import ReadHop

__all__ = ["process_variables", "read_variables", "settings_variable"]

_DECIDING = re.compile(
    "LD_PRELOAD|MALLOC_\\w+|PYTHON(OPTIMIZE|MALLOC|MALLOCSTATS|ASYNCIODEBUG|DEVMODE|TRACEMALLOC|FAULTHANDLER|"
    "_GIL|_JIT|UNBUFFERED_STDERR|PROFILEIMPORTTIME|NODEBUGRANGES)|GOMAXPROCS|(OMP|OPENBLAS|MKL)_NUM_THREADS"
)
_READ = re.compile(r"""(?:environ(?:\.get)?|getenv|env|config)[(\[\s]+["'](\w+)["']|\$\((\w+)\)""")
"""``os.environ.get("WORKERS", 2)``, uWSGI's ``$(WORKERS)``."""


def process_variables(hop: ReadHop) -> Iterator[CurrentGap]:
    """Yield the variables, such as LD_PRELOAD, without which a race would start the processes of ``hop``."""
    for name in hop.variables:
        if _DECIDING.fullmatch(name):
            file, line = _said_at(hop, name)
            yield CurrentGap(file=file, line=line, what=name, why=_missing(name))


def read_variables(hop: ReadHop, lines: Sequence[str]) -> Iterator[CurrentGap]:
    """Yield where the configuration file of ``hop`` reads a variable that the deployment sets."""
    for number, line in enumerate(lines, 1):
        for named in map(max, set(_READ.findall(line))):
            if named in hop.variables and not line.lstrip().startswith(("#", ";")):
                yield CurrentGap(file=hop.config, line=number, what=named, why=_missing(named))


def _missing(name: str) -> str:
    """Say how a variable that the deployment sets comes into a race."""
    return f'the deployment sets this variable, and a race does not: add [app] env = {{ {name} = "…" }}'


def settings_variable(hop: ReadHop, entry: Entry | None) -> Iterator[CurrentGap]:
    """Yield DJANGO_SETTINGS_MODULE where the deployment of the app ``entry`` has other settings than the race."""
    theirs = hop.variables.get(VARIABLE, "")
    if entry is None or entry.kind is not EntryKind.DJANGO or not theirs or theirs == entry.target:
        return
    file, line = _said_at(hop, VARIABLE)
    yield CurrentGap(
        file=file, line=line, what=VARIABLE, why=f"the race has the settings {entry.target}: {_missing(VARIABLE)}"
    )


def _said_at(hop: ReadHop, name: str) -> tuple[str, int]:
    """Return the file and line that set a variable; where none is seen, those of the command."""
    command = hop.command
    for path in dict.fromkeys(filter(None, (command.file, *command.documents, command.document, command.image))):
        if number := line_with(rf"(?<![\w$]){name}[\"']?\s*[=: ]", text_of(path)):
            return shown(path, hop.root), number
    return hop.place
