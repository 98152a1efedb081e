"""The project's present deployment, as its own files describe it, raced beside the other stacks."""

from ...extensions import Contestants, Notice, Part, RequestPart, Verb

EXTENSIONS = (
    Part(
        "current",
        f"{__name__}.model:CurrentDeployment",
        member="deployment",
        about="What the project runs today, as its files say; null where nothing was found, or looked for.",
    ),
    RequestPart(
        "current-file",
        f"{__name__}.current_options:CurrentRequest",
        f"{__name__}.current_options:FLAGS",
        "What is raced",
    ),
    Contestants(f"{__name__}.contestant:current_stack"),
    Verb("current", "Start", "Show what a project runs today.", f"{__name__}.verb:command", 15, needs_linux=False),
    Notice(f"{__name__}.notice", kind=f"{__name__}.distance:CurrentStanding"),
)
