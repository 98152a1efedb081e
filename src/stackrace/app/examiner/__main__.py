"""Start the examiner: it reads an order in JSON from stdin and reports to the file descriptor given as argument.

The app's own output cannot get into the report: lines ``stage …`` while the examiner works, then one line of
JSON; or the tracebacks of all threads when the time is over, repeatedly.
"""

from __future__ import annotations

import faulthandler
import importlib
import importlib.util
import json
import os
import sys
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 (pathlib is slow to import)


def _main() -> None:
    report = os.fdopen(int(sys.argv[1]), "w", encoding="utf-8")
    order = json.load(sys.stdin)
    # the parent process ends the examiner, since only the parent knows whether it could run
    faulthandler.dump_traceback_later(order["timeout_s"], repeat=True, file=report)
    ours = _load_ourselves()
    # settings may look for a command: servers have the app's name there
    sys.argv[1:] = ["stackrace_entry:application"]
    channel = ours.Channel(report)
    document = ours.examine(order, channel)
    faulthandler.cancel_dump_traceback_later()
    channel.report(document)
    os._exit(0)


def _load_ourselves() -> Any:
    """Import this folder as the package ``stackrace_examiner``: the app's sys.path gets no module of Stackrace."""
    if sys.path[0] == _HERE:
        del sys.path[0]
    keep, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    spec = importlib.util.spec_from_file_location(
        "stackrace_examiner", _HERE + "/__init__.py", submodule_search_locations=[_HERE]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = package
    spec.loader.exec_module(package)
    examination = importlib.import_module("stackrace_examiner.course")
    sys.dont_write_bytecode = keep
    return examination


if __name__ == "__main__":
    _main()
