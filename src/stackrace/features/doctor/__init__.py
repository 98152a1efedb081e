"""Search for disturbances of measurements on this machine."""

from ...extensions import Verb

EXTENSIONS = (
    Verb("doctor", "Start", "Find what disturbs measurements on this machine.", f"{__name__}.verb:command", 40),
)
