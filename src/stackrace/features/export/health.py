"""How it is seen whether a deployed stack works: a page asked for at its front."""

from __future__ import annotations

from pathlib import Path

from .wanted import Export

__all__ = ["HOST", "health_command", "health_script"]

SCRIPT = "health.py"
HOST = "HEALTH_HOST"
"""The variable that names the Host to ask for, where the app accepts another one than it did here."""


def health_command(export: Export, *, patient: bool = True) -> tuple[str, ...]:
    """Return the command that ends with 0 where the page is answered.

    While the stack starts it is ``patient``, and content with any answer that is no server error: a page that was
    deleted, or a host that the app does not know yet, must not take the whole site down. A front end has started in
    the end with any answer at all: what it forwards to may be down, and it must be there when that comes back.
    """
    health, target = export.health, export.target
    url = f"http://{target.asked_at}{health.path}"
    said = (("Host", health.host), *health.headers)
    if export.has_python:
        anyway = ("--any",) if export.front.site.upstream else ()
        wait = ("--wait", "60", "--below", "500", *anyway) if patient else ()
        headers = tuple(word for name, value in said for word in ("--header", f"{name}: {value}"))
        return (str(target.python), str(target.files / SCRIPT), *wait, *headers, url)
    again = ("--retry", "60", "--retry-delay", "1", "--retry-connrefused") if patient else ()
    headers = tuple(word for name, value in said for word in ("--header", f"{name}: {value}"))
    # plain files: without --fail any answer is one
    strict = () if patient else ("--fail",)
    return ("/usr/bin/curl", *strict, "--silent", "--output", "/dev/null", *again, *headers, url)


def health_script() -> str:
    """Return the text of the script, which needs the standard library only."""
    return Path(__file__).with_name("health_script.py").read_text(encoding="utf-8")
