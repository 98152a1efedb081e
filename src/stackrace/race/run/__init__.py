"""A race as it runs: blocks, launches, slices."""
