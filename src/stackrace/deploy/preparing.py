"""Preparation steps before a race, as values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum, auto


class Step(StrEnum):
    """A preparation step; ``Preparing.subject`` is its object."""

    NO_APP = auto()
    """The folder of the race file ``subject`` contains no app, so the bundled one is raced."""
    NO_INTERPRETER = auto()
    """The app has no interpreter, because of ``subject``; an environment with one is built next."""
    ENVIRONMENT = auto()
    """A Python environment is built from the file ``subject``."""
    PACKAGES = auto()
    """The Python packages ``subject`` are installed; empty: only their environment is built."""
    SERVICE = auto()
    """The empty data of the service ``subject`` are created."""
    DATA = auto()
    """The app's data are created; ``subject`` is its name and its commands."""
    OTHER_RACE = auto()
    """Another race builds the template ``subject``, and this one waits."""
    COPY = auto()
    """The services or the app, ``subject``, start from a template."""
    START = auto()
    """A stack or the services ``subject`` start."""
    DATABASE = auto()
    """Databases of the app are copied; ``subject`` is their names and sizes."""
    PROJECT = auto()
    """The app's project is copied; ``subject`` is its name and size."""
    CHANGES = auto()
    """No time needed: the sentence ``subject`` names what the app may change, because it is not copied."""
    APP = auto()
    """The app's own commands run."""
    ANSWERS = auto()
    """The app ``subject`` is asked for its golden answers."""
    BURSTS = auto()
    """The stack ``subject`` starts and answers short loads, which show how many requests it serves at once."""
    PAGES = auto()
    """The app is searched for pages; ``subject`` is its name and the progress."""
    CHOSEN = auto()
    """No time needed: the user named no pages, and ``subject`` says which are raced."""
    COMPARING = auto()
    """The project in the folder ``subject`` is compared with the copies on the machines of a cluster."""
    MACHINES = auto()
    """The machines ``subject`` of a cluster prepare the race, each for itself."""
    PORTS = auto()
    """Closed connections still hold their ports (TIME_WAIT), and the race waits for them."""

    @property
    def is_once(self) -> bool:
        """True if only the first race takes time for this step; such time does not count against a budget."""
        return self in _ONCE


_ONCE = frozenset({Step.ENVIRONMENT, Step.PACKAGES, Step.SERVICE, Step.DATA, Step.OTHER_RACE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparing:
    """One slow step; the step's text explains ``subject``, which is empty if the step has none."""

    step: Step
    subject: str = ""


OnPreparing = Callable[[Preparing], None]
"""Function to call at the beginning of each step."""


def ignore_step(preparing: Preparing) -> None:
    """Ignore the step."""
