"""What is being prepared before a race, as a value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum, auto


class Step(StrEnum):
    """What is done; ``Preparing.subject`` says to what."""

    NO_APP = auto()
    """The folder of the race file ``subject`` holds no app, so the bundled one is raced."""
    NO_INTERPRETER = auto()
    """The app has no interpreter, because of ``subject``; one is built next."""
    ENVIRONMENT = auto()
    """A Python environment is built from the file ``subject``."""
    PACKAGES = auto()
    """The Python packages ``subject`` are installed; empty: none, only their environment."""
    SERVICE = auto()
    """The empty data of the service ``subject`` are built."""
    DATA = auto()
    """The app's data are built: its name and its commands."""
    OTHER_RACE = auto()
    """Another race builds the template ``subject``, and this one waits."""
    COPY = auto()
    """Services or the app, ``subject``, start from a template."""
    START = auto()
    """A stack or the services ``subject`` start."""
    DATABASE = auto()
    """Databases of the app are copied: their names and sizes, ``subject``."""
    PROJECT = auto()
    """The app's project is copied: its name and size, ``subject``."""
    CHANGES = auto()
    """Nothing takes time: what the app may change is not copied, as the sentence ``subject`` says."""
    APP = auto()
    """The app's own commands run."""
    ANSWERS = auto()
    """The app ``subject`` is asked for its golden answers."""
    BURSTS = auto()
    """The stack ``subject`` starts and answers short loads, which tell how many requests it serves at once."""
    PAGES = auto()
    """The app is asked for its pages: its name and how far that is, ``subject``."""
    CHOSEN = auto()
    """Nothing takes time: nobody named pages, and ``subject`` says which are raced."""
    COMPARING = auto()
    """The project in the folder ``subject`` is compared with what the machines of a cluster have."""
    MACHINES = auto()
    """The machines ``subject`` of a cluster prepare the race, each for itself."""
    PORTS = auto()
    """Connections that are over have to let go of their ports (TIME_WAIT)."""

    @property
    def is_once(self) -> bool:
        """Whether only a first race takes this time: it does not count against a budget."""
        return self in _ONCE


_ONCE = frozenset({Step.ENVIRONMENT, Step.PACKAGES, Step.SERVICE, Step.DATA, Step.OTHER_RACE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparing:
    """One thing that takes a while; ``subject`` is as the step says, empty where it needs none."""

    step: Step
    subject: str = ""


OnPreparing = Callable[[Preparing], None]
"""Hears what is being prepared, at its beginning."""


def unheard(preparing: Preparing) -> None:
    """Hear it and do nothing."""
