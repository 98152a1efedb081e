"""The documentation site, which ``make docs`` builds from the Markdown files of this repository as they are.

The source folder is the whole repository, so that the files' links to code and to its other pages lead somewhere.
"""

import sys
import tomllib
from pathlib import Path

_DOCS = Path(__file__).parent
sys.path.insert(0, str(_DOCS / "_ext"))

project = "Stackrace"
release = tomllib.loads((_DOCS.parent / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"][
    "version"
]

extensions = ["myst_parser", "site_pages"]
root_doc = "docs/index"
include_patterns = ["*.md", "benchmarks/README.md", "crates/*/README.md", "docs/**.md"]
exclude_patterns = [".*", "build", "dist", "examples", "src", "target", "tests", "tools"]
nitpicky = True
smartquotes = False  # they would make dashes of --flags
highlight_language = "text"
myst_heading_anchors = 4
# what only MyST has: a line that begins with % stays text, as on a forge
myst_disable_syntax = ["myst_block_break", "myst_line_comment", "myst_role", "myst_target"]

html_theme = "furo"
html_title = f"Stackrace {release}"
html_use_index = False
html_extra_path = ["_extra"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
