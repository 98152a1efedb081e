"""What is installed, or would be: for people, and as a document."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum, auto

from ..base.lack import Lack
from ..race.preparation.installing import InstallPlan

__all__ = ["Outcome", "document", "elsewhere", "lines"]


class Outcome(StrEnum):
    """What became of a plan."""

    LISTED = auto()
    """Nothing: it was only to be shown."""
    INSTALLED = auto()
    FORBIDDEN = auto()
    """Nothing, for want of root's rights."""


def document(plan: InstallPlan, outcome: Outcome) -> dict[str, object]:
    """Return the plan as the JSON output has it."""
    return {
        "installed": outcome is Outcome.INSTALLED,
        "missing": [_lack(lack) for lack in (*plan.lacks, *plan.elsewhere)],
        "debian_packages": list(plan.packages),
        "python_packages": list(plan.python),
        "command": plan.command,
    }


def _lack(lack: Lack) -> dict[str, object]:
    return {
        "name": lack.name,
        "missing": lack.missing,
        "debian_packages": list(lack.packages),
        "elsewhere": lack.elsewhere,
    }


def lines(plan: InstallPlan, outcome: Outcome) -> Iterator[str]:
    """Yield the plan, and what became of it, in lines."""
    names = ", ".join(lack.name for lack in plan.lacks)
    if outcome is Outcome.LISTED:
        yield from (f"missing: {lack.words}" for lack in plan.lacks)
        yield f"would run: {plan.command}" if plan.command else "no Debian package is missing"
        if plan.python:
            yield f"from PyPI, into private environments: {', '.join(plan.python)}"
        yield from map(elsewhere, plan.elsewhere)
    elif outcome is Outcome.FORBIDDEN:
        yield f"not installed, for want of root's rights: {names}. Stacks without them can be raced."
    elif names or plan.python:
        debian = f"installed: {names}" if names else "every Debian package is there"
        yield debian + ("; Python's packages are in private environments" if plan.python else "")
    elif not plan.elsewhere:
        yield "nothing to install: every package is there"


def elsewhere(lack: Lack) -> str:
    """Say where to get what Debian has no package of."""
    return f"{lack.name} has no Debian package; {lack.elsewhere}"
