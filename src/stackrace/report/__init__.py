"""Every report of a race, all from the same standing: terminal, live view, HTML, JSON, CSV, Markdown."""
