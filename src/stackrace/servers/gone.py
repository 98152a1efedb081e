"""Techniques that people still look for and that no longer exist: what each was, why it is gone, what lives on."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["GONE", "Gone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """One technique that no longer exists."""

    name: str
    """As a stack path would write it: a server, or a pair such as ``nginx+mod_wsgi``."""
    was: str
    """Completes "it was …"."""
    because: str
    """Completes "it is gone because …"."""
    kin: tuple[str, ...]
    """Stacks, or parts of stacks, that do today what it did, nearest first."""

    @property
    def sentence(self) -> str:
        """All of it, for whoever asks for it."""
        return f"{self.name}, {self.was}, is gone: {self.because}; use {' or '.join(self.kin)}"


GONE = (
    Gone(
        name="ajp-wsgi",
        was="an AJP server for WSGI apps written in C",
        because="it was only ever made for Python 2",
        kin=("apache/ajp/flup",),
    ),
    Gone(
        name="django-modpython",
        was="Django's own handler for mod_python",
        because="Django removed it in 1.5",
        kin=("apache+mod_python", "apache+mod_wsgi"),
    ),
    Gone(
        name="litespeed",
        was="LiteSpeed Web Server 3.1, standard edition",
        because="that version is no longer given out, and today's LiteSpeed needs a licence",
        kin=("openlitespeed",),
    ),
    Gone(
        name="mongrel",
        was="the Ruby server before Thin and Puma",
        because="its last release is of 2008; its HTTP parser lives on in its kin",
        kin=("puma",),
    ),
    Gone(
        name="nginx+mod_wsgi",
        was="Python inside nginx's own workers",
        because="it was written for nginx 0.5 and is no longer kept (today's mod_wsgi lives inside apache)",
        kin=("unit", "passenger", "apache+mod_wsgi"),
    ),
    Gone(
        name="runfcgi",
        was="Django's command that ran an app under flup",
        because="Django removed it in 1.9",
        kin=("flup",),
    ),
)
"""In alphabetical order. Source: Django, "Deprecation timeline", 1.5 and 1.9; the other projects' own READMEs."""
