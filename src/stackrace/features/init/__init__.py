"""Writes a race file for the app in a folder."""

from ...extensions import Verb

EXTENSIONS = (
    Verb("init", "Start", "Write a race file for the app in this folder.", f"{__name__}.command:command", 10),
)
