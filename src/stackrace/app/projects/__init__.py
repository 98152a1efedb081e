"""What a folder of the user's holds: its Django project, its Rack app, or the Python apps in its code."""

from .deployment import DeploymentCommand, deployment_commands
from .detection import Project, detect
from .names import entry_named, flags_named
from .settings import VARIABLE, settings_candidates

__all__ = [
    "VARIABLE",
    "DeploymentCommand",
    "Project",
    "deployment_commands",
    "detect",
    "entry_named",
    "flags_named",
    "settings_candidates",
]
