"""What a word of a command line was probably meant as, where it stands in the place of something else."""

from __future__ import annotations

import re

__all__ = ["url_meant"]

_ADDRESS = re.compile(r"(localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9A-Fa-f:]+\]|[\w.-]+(?=:\d))(:\d{1,5})?(/.*)?")


def url_meant(word: str) -> str:
    """Return ``word`` as a URL where it is one, or is one without its scheme; empty for anything else.

    >>> url_meant("127.0.0.1:8000")
    'http://127.0.0.1:8000/'
    >>> url_meant("race.toml")
    ''
    """
    if word.startswith(("http:/", "https:/")):
        # a path has lost one of its slashes
        return re.sub(":/+", "://", word, count=1)
    match = _ADDRESS.fullmatch(word)
    return f"http://{word}{'' if match[3] else '/'}" if match else ""
