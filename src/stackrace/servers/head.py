"""A module around the app's own for servers that send a body in answer to HEAD, which they must not."""

from __future__ import annotations

from pathlib import Path

from .hosted import Hosted

__all__ = ["BODILESS", "bodiless_files"]

BODILESS = "stackrace_bodiless"
"""The module's name: it binds ``application`` as the entry module does."""

_SCRIPT = Path(__file__).with_name("bodiless.py")


def bodiless_files(app: Hosted) -> dict[str, str]:
    """Return the module's file, which belongs into the site's directory; the server finds it on its path."""
    source = _SCRIPT.read_text(encoding="utf-8")
    binding = (
        f"\n\nfrom {app.module} import application as hosted\n\n"
        f"application = {app.interface}_without_body(hosted)\n"
    )
    return {f"{BODILESS}.py": source + binding}
