"""Sphinx extension for pages that are also read as plain Markdown.

- ``<!-- make docs: NAME ARGUMENT -->`` is replaced by the part of the reference that `reference_parts` makes.
- The links of an index page (``index.md``, ``README.md``) are the table of contents below it.
- Links to folders, which a site cannot show, become text.
- The JSON schemas lie in ``schemas``, for editors and programs: that of race.toml is ``schemas/init.json``.
- Pages get what the theme lacks for readers without a mouse or a screen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from reference_parts import PARTS, schemas
from sphinx import addnodes
from sphinx.application import Sphinx

_MARK = re.compile(r"^<!-- make docs: (\w+) ?(\S*) -->$", re.MULTILINE)
_SECTION = re.compile(r"^## ", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\(([^)#:]+)\.md\)")


def _complete(app: Sphinx, docname: str, content: list[str]) -> None:
    text = _MARK.sub(lambda mark: PARTS[mark[1]](*filter(None, [mark[2]])), content[0])
    if text != content[0]:
        app.env.note_reread()  # the code may have changed
    if docname == app.config.root_doc or re.fullmatch(r"docs/.+/README", docname):
        text += "\n" + "\n".join(_contents(text, is_root=docname == app.config.root_doc))
    content[0] = text


def _contents(text: str, *, is_root: bool) -> Iterator[str]:
    """Yield a hidden toctree for each section; only the root lists pages outside of its folder."""
    for section in _SECTION.split(text):
        heading, _, body = section.partition("\n")
        links = {path: title for title, path in _LINK.findall(body) if is_root or not path.startswith("..")}
        if links:
            entries = [f"{title.replace('`', '')} <{path}>" for path, title in links.items()]
            yield "\n".join(
                ["```{toctree}", ":hidden:", f":caption: {heading.lstrip('# ')}", "", *entries, "```", ""]
            )


def _as_text(app: Sphinx, document: nodes.document) -> None:
    folder = Path(app.env.doc2path(app.env.docname)).parent
    for link in list(document.findall(addnodes.pending_xref)):
        if link["reftype"] == "myst" and not link["refdomain"] and (folder / link["reftarget"]).is_dir():
            link.replace_self(link.children)


def _publish_schemas(app: Sphinx, error: Exception | None) -> None:
    if error is None:
        folder = Path(app.outdir, "schemas")
        folder.mkdir(exist_ok=True)
        for name, text in schemas().items():
            (folder / f"{name}.json").write_text(text, encoding="utf-8")


_LACKING = {
    # a keyboard scrolls only what has the focus
    r"<pre>": '<pre tabindex="0">',
    r'<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
    # an empty cell is the heading of nothing
    r'<th class="head[^"]*"><p></p></th>': "<td></td>",
    r'<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    r'<aside class="sidebar-drawer': '<aside aria-label="All pages" class="sidebar-drawer',
    r'<aside class="toc-drawer': '<aside aria-label="On this page" class="toc-drawer',
    # the search page has no heading before there are results; the site may have been built before
    r'(?<!</h1>\n)<div id="search-results">': '<h1>Search</h1>\n<div id="search-results">',
}
"""Patterns of the theme's tags, and what they are replaced with."""


def _for_everybody(app: Sphinx, error: Exception | None) -> None:
    """Complete the tags of all pages, also of a site that was built before."""
    for path in Path(app.outdir).rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        for tag, complete in _LACKING.items():
            page = re.sub(tag, complete, page)
        path.write_text(page, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the extension to Sphinx."""
    app.connect("source-read", _complete)
    app.connect("doctree-read", _as_text)
    app.connect("build-finished", _publish_schemas)
    app.connect("build-finished", _for_everybody)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
