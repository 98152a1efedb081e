"""Shows whether anybody changed a stored race."""

from ...extensions import Verb

EXTENSIONS = (
    Verb(
        "history",
        "Keep",
        "Show whether anybody changed a stored race.",
        f"{__name__}.verb:command",
        30,
        needs_linux=False,
    ),
)
