"""What an app needs beside it: one file per service, and in ``contract`` what each of them says."""

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module

from .contract import DATA, Service, ServiceRecipe

__all__ = ["DATA", "Service", "ServiceRecipe", "services"]


@cache
def services() -> Mapping[str, Service]:
    """Return all services by name."""
    names = (module.name for module in pkgutil.iter_modules(__path__) if module.name != "contract")
    modules = (import_module(f"{__name__}.{name}") for name in names)
    return {module.SERVICE.name: module.SERVICE for module in modules}
