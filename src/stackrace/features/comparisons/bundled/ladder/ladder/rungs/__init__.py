"""One module per rung, each with ``lookup() -> str``."""
