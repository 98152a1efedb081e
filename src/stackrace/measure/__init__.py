"""Load, and the measurements taken while it runs."""
