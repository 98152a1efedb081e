"""Where modules of an editable install are imported from.

The report is JSON and goes into the file descriptor given as argument: ``path`` is sys.path, ``modules`` maps
names to the file or folder that a finder of such an install has for them. Run by the app's own interpreter.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def main() -> None:
    """Report; a finder of a kind that nobody knows is left out."""
    with os.fdopen(int(sys.argv[1]), "w", encoding="utf-8") as report:
        json.dump({"path": sys.path[1:], "modules": _modules()}, report)


def _modules() -> dict[str, str]:
    """Return what the finders of setuptools (MAPPING) and of the package "editables" (_redirections) have."""
    modules: dict[str, Any] = {}
    for finder in sys.meta_path:
        home = sys.modules.get(getattr(finder, "__module__", ""))
        modules.update(getattr(home, "MAPPING", None) or {})
        modules.update(getattr(finder, "_redirections", None) or {})
    return {str(name): str(place) for name, place in modules.items()}


if __name__ == "__main__":
    main()
