"""Process: programs that we start and that end with us, and signals that wait meanwhile."""

from .background import Background, Pending
from .children import attended, within
from .commands import CommandResult, listen, run
from .git import foreign_filters, git
from .held_signals import HeldSignals, held
from .uv import uv_program

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
