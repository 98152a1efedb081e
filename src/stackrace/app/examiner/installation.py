"""Which Python this is, and what is installed in its environment."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from importlib.metadata import distributions

from .messages import PythonReport


def facts() -> PythonReport:
    """Return version, executable, the folders of packages, and the distributions in them."""
    return {
        "version": ".".join(str(part) for part in sys.version_info[:3]),
        "base": os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable),
        "site_packages": _site_packages(),
        "distributions": _distributions(),
    }


def _site_packages() -> list[str]:
    """Return the folders of packages that are really on the path, in the path's order."""
    paths = sysconfig.get_paths()
    candidates = [paths["purelib"], paths["platlib"], *site.getsitepackages()]
    if site.ENABLE_USER_SITE:
        candidates.append(site.getusersitepackages())
    known = {os.path.realpath(path) for path in candidates}
    on_path = (path for path in sys.path if os.path.isdir(path) and os.path.realpath(path) in known)  # noqa: PTH112
    return list(dict.fromkeys(on_path))


def _distributions() -> dict[str, str]:
    """Return name → version; of a distribution found twice the first counts, as it does for imports."""
    versions: dict[str, str] = {}
    for distribution in distributions():
        name = distribution.metadata["Name"]
        if name:
            versions.setdefault(name, distribution.version)
    return versions
