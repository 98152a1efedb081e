"""Process: programs that we start and that end with us, and signals that wait meanwhile."""

from .commands import CommandResult, attended, listen, run, uv_program, within
from .git import foreign_filters, git
from .interruption import Background, HeldSignals, Pending, held

__all__ = [
    "Background",
    "CommandResult",
    "HeldSignals",
    "Pending",
    "attended",
    "foreign_filters",
    "git",
    "held",
    "listen",
    "run",
    "uv_program",
    "within",
]
