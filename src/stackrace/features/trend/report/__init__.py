"""A trend in every format: terminal, page, Markdown, JSON."""
