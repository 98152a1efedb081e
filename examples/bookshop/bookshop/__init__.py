"""A second-hand bookshop."""
