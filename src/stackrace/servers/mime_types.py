"""The content types of files, for servers that know none of their own."""

from __future__ import annotations

__all__ = ["ANY", "MIME_TYPES"]

ANY = "application/octet-stream"
"""Of a suffix that is not listed."""

MIME_TYPES = {
    "text/html": ("html", "htm"),
    "text/plain": ("txt",),
    "text/css": ("css",),
    "text/javascript": ("js",),
    "text/csv": ("csv",),
    "application/json": ("json", "map"),
    "application/pdf": ("pdf",),
    "application/wasm": ("wasm",),
    "text/xml": ("xml",),
    "image/png": ("png",),
    "image/jpeg": ("jpg", "jpeg"),
    "image/gif": ("gif",),
    "image/svg+xml": ("svg",),
    "image/webp": ("webp",),
    "image/x-icon": ("ico",),
    "font/woff": ("woff",),
    "font/woff2": ("woff2",),
    "video/mp4": ("mp4",),
}
"""Suffixes by type."""
