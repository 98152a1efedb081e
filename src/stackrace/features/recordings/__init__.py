"""Requests of real visitors: HAR files, access logs, and visits recorded in a browser."""

from ...extensions import Verb, WorkloadSource

EXTENSIONS = (
    Verb(
        "record", "Measure", "Record a visit in your browser, as a session to race.", f"{__name__}.verb:command", 30
    ),
    WorkloadSource(f"{__name__}.recording:read_recording"),
)
