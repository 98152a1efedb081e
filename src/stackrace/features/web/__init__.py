"""Shows stored races in a browser."""

from ...extensions import Verb

EXTENSIONS = (Verb("web", "Keep", "Browse your races.", f"{__name__}.verb:command", 70, needs_linux=False),)
