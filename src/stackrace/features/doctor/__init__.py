"""What could be quieter on this machine before anything is measured on it, and how to have it so for a while."""

from .advice import Advice, Change, Gain, command_of
from .examination import Examination, examine
from .kernel import Kernel
from .kernel_settings import Outcome, State, apply, undo
from .look import look
from .record import Record
from .surroundings import Surroundings

__all__ = [
    "Advice",
    "Change",
    "Examination",
    "Gain",
    "Kernel",
    "Outcome",
    "Record",
    "State",
    "Surroundings",
    "apply",
    "command_of",
    "examine",
    "look",
    "undo",
]
