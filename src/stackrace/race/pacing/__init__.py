"""Lengths of slices and blocks, and what they fit into."""
