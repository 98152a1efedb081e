"""Start of programs that end with Stackrace, and signals that are held back meanwhile."""

from .commands import CommandResult, ask, attended, listen, require_system, run, within
from .deadline import Deadline, OverdueError, tree
from .git import Filtered, Repository, at, repository, users_variables
from .interruption import Background, HeldSignals, Pending, held
from .uv import Cause, cause_of, uv_missing, uv_program

__all__ = [
    "Background",
    "Cause",
    "CommandResult",
    "Deadline",
    "Filtered",
    "HeldSignals",
    "OverdueError",
    "Pending",
    "Repository",
    "ask",
    "at",
    "attended",
    "cause_of",
    "held",
    "listen",
    "repository",
    "require_system",
    "run",
    "tree",
    "users_variables",
    "uv_missing",
    "uv_program",
    "within",
]
