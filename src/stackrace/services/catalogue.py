"""Finds every service: the folders here."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module

from .contract import Service

__all__ = ["services"]


@cache
def services() -> Mapping[str, Service]:
    """Return all services by name."""
    folders = pkgutil.iter_modules(import_module("stackrace.services").__path__)
    modules = (import_module(f"stackrace.services.{folder.name}.service") for folder in folders if folder.ispkg)
    return {module.SERVICE.name: module.SERVICE for module in modules}
