"""Every check there is, and its declaration by its id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .address import address
from .declaration import Check, Declaration
from .launches import LAUNCH_CHECKS
from .preflight import PREFLIGHT_CHECKS
from .races import RACE_CHECKS
from .registry import SLICE_CHECKS
from .runs import run_cut_off

__all__ = ["DECLARATIONS", "EVERY_CHECK"]

EVERY_CHECK: tuple[Check[Any], ...] = (
    *PREFLIGHT_CHECKS,
    address,
    *SLICE_CHECKS,
    run_cut_off,
    *LAUNCH_CHECKS,
    *RACE_CHECKS,
)

DECLARATIONS: Mapping[str, Declaration] = {
    check.declaration.id: check.declaration for check in reversed(EVERY_CHECK)
}
