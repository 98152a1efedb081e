"""Finds a stack's best settings for an app, within limits."""

from ...extensions import Part, ResultKind, Strategy, Verb

EXTENSIONS = (
    Verb(
        "tune",
        "Decide",
        "Find a stack's best settings for this app, within limits.",
        f"{__name__}.command:command",
        30,
    ),
    Part("tuning", f"{__name__}.model:Tuning"),
    ResultKind("tuning", f"{__name__}.tuning_report:KIND", "stackrace tune STACK"),
    Strategy("tuning", f"{__name__}.strategy"),
)
