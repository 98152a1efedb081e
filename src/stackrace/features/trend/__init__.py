"""Shows a project's races over time, and what changed."""

from ...extensions import StoredResults, Verb

EXTENSIONS = (
    Verb(
        "trend",
        "Keep",
        "Show a project's races over time, and what changed.",
        f"{__name__}.verb:command",
        20,
        needs_linux=False,
    ),
    StoredResults("trend", "Trends", f"{__name__}.stored"),
)
