"""Finds the highest rate at which a server is fast enough."""

from ...extensions import StoredResults, Verb

EXTENSIONS = (
    Verb(
        "capacity",
        "Measure",
        "Find the highest rate at which a server is fast enough.",
        f"{__name__}.verb:command",
        20,
    ),
    StoredResults("capacity", "Capacities", f"{__name__}.stored"),
)
