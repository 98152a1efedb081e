"""Reads recorded web sessions into requests to replay: HAR 1.2 files, and access logs of web servers.

What was recorded is rarely what can be sent: connections have headers of their own, a browser asks other servers
as well, bodies are missing. ``read`` keeps what can be replayed as steps. It counts, with a reason, what it leaves
out. The bytes come from anywhere, so everything that a step holds can be sent as it stands: its method is a token,
its path is origin-form, its headers stay in their lines.
"""

from .reading import read
from .step import RecordingError, Steps

__all__ = ["RecordingError", "Steps", "read"]
