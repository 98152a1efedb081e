"""Finds out whether a change makes the app slower: the verb ``check``."""

from ...extensions import Part, ResultKind, Verb

EXTENSIONS = (
    Verb("check", "Decide", "Find out whether a change makes the app slower.", f"{__name__}.verb:command", 20),
    Part("check", f"{__name__}.model:GateFacts"),
    ResultKind("check", f"{__name__}.kind:KIND", "stackrace check"),
)
