"""Shows stored and running races in a browser."""

from ...extensions import Verb

EXTENSIONS = (
    Verb(
        "web",
        "Keep",
        "Watch, browse and compare races in a browser.",
        f"{__name__}.verb:command",
        70,
        needs_linux=False,
    ),
)
