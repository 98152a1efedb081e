"""Load, and what is watched while it runs."""
