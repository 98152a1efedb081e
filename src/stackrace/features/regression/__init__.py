"""Finds out whether a change makes the app slower: the verb ``check``."""

from ...extensions import Verb

EXTENSIONS = (
    Verb(
        "check", "Decide", "Find out whether a change makes the app slower.", f"{__name__}.cli.command:command", 20
    ),
)
