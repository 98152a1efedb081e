"""Writes the files that deploy a stack: configurations, units, an image, and why."""

from ...extensions import Verb

EXTENSIONS = (
    Verb(
        "export",
        "Decide",
        "Write what deploys a stack: configurations, units, an image, and why.",
        f"{__name__}.command:command",
        40,
    ),
)
