"""The few lines of SVG building that the charts need: every attribute and text is escaped here."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from ...base.text import one_line

__all__ = ["caption", "number", "tag", "text"]


def tag(name: str, *children: str, **attributes: str | float | int | None) -> str:
    """Return an element; ``class_`` and ``stroke_width`` lose and change their underscores, None is left out.

    ``children`` are markup already; numbers are written with at most two decimals.
    """
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}={quoteattr(_value(value))}"
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{written}>{''.join(children)}</{name}>" if children else f"<{name}{written}/>"


def text(content: str, **attributes: str | float | int | None) -> str:
    """Return a text element with ``content`` escaped."""
    return tag("text", escape(one_line(content)), **attributes)


def caption(title: str, description: str = "") -> str:
    """Return ``title`` and, when given, ``desc`` elements: the chart in words."""
    element = tag("title", escape(one_line(title)))
    return element + (tag("desc", escape(one_line(description))) if description else "")


def number(value: float) -> str:
    """Return ``value`` with at most two decimals, without trailing zeros."""
    written = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if written in ("", "-0") else written


def _value(value: str | float | int) -> str:
    return one_line(value) if isinstance(value, str) else number(value)
