"""Lengths of slices and blocks, and the division of a time budget into them."""
