"""Process: programs that we start and that end with us, and signals that wait meanwhile."""

from .commands import CommandResult, attended, listen, require_system, run, within
from .git import foreign_filters, git
from .interruption import Background, HeldSignals, Pending, held
from .uv import Cause, cause_of, uv_program

__all__ = [
    "Background",
    "Cause",
    "CommandResult",
    "HeldSignals",
    "Pending",
    "attended",
    "cause_of",
    "foreign_filters",
    "git",
    "held",
    "listen",
    "require_system",
    "run",
    "uv_program",
    "within",
]
