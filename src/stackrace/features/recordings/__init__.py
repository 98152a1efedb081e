"""Requests of real visitors: HAR files that browsers export, and access logs."""

from ...extensions import Verb, WorkloadSource

EXTENSIONS = (
    Verb("record", "Measure", "Make a session to race of a browser's HAR file.", f"{__name__}.verb:command", 30),
    WorkloadSource(f"{__name__}.recorded_sessions:read_recording"),
)
